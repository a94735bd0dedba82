"""The code of the mutants of weights: a unit weighs more than one record, or changes others."""

from __future__ import annotations

import zlib
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from privatree.counting import Weigher, _weights
from privatree.learners.first_steps import _class_factors, _noisy_counts
from privatree.learners.tree import ClassGrowth, OpenNode, _growth
from privatree.learners.zoom import _intervals
from privatree.privacy.mechanisms import DenseInterval, Geometric, SequentialExponential
from privatree.schema import Schema
from privatree.tables import UnitIds

Patch = pytest.MonkeyPatch

# --- making weights -------------------------------------------------------------------------------


def weights_not_scaled(patch: Patch) -> None:
    real = Weigher._exact_totals
    patch.setattr(
        Weigher,
        "_exact_totals",
        lambda weigher, batch: np.minimum(real(weigher, batch), _weights.FULL_WEIGHT),
    )


def weights_rounded_up(patch: Patch) -> None:
    real = Weigher.weigh

    def mutant(weigher: Weigher, batch: Any, labels: Any) -> Any:
        found = real(weigher, batch, labels)
        return found + ((found > 0) & (found < _weights.FULL_WEIGHT))

    patch.setattr(Weigher, "weigh", mutant)


def fewer_records_are_counted_than_weighed(patch: Patch) -> None:
    """Labels are compared as text where a unit's records are counted, and by value elsewhere."""
    real = _weights.label_codes

    def mutant(column: Any, schema: Schema) -> Any:
        is_class = [str(value) in map(str, schema.classes) for value in column.values]
        return np.where(is_class, real(column, schema), -1)

    patch.setattr(_weights, "label_codes", mutant)


def more_records_are_counted_than_weighed(patch: Patch) -> None:
    """Those without a known label, too. It is not harmful: a unit weighs less than it could."""
    real = _weights.label_codes
    patch.setattr(_weights, "label_codes", lambda *given: np.maximum(real(*given), 0))


def ids_hashed(patch: Patch) -> None:
    """To two bits."""
    real = _weights.read_unit_ids

    def mutant(column: Any) -> UnitIds:
        found = real(column)
        hashes = np.array([zlib.crc32(one.encode()) % 4 for one in found.ids] + [-1])
        return UnitIds(hashes[found.places], np.arange(4))

    patch.setattr(_weights, "read_unit_ids", mutant)


# --- using weights --------------------------------------------------------------------------------


def weights_made_per_node(patch: Patch) -> None:
    """The records of a unit in a node weigh as much as a record together.

    Nothing but the records of one unit weighs less than a record in the case that catches this.
    """
    real = ClassGrowth.next_level

    def mutant(growth: ClassGrowth, level: list[Any]) -> list[Any]:
        below, records = real(growth, level), growth._records
        for start, stop in pairwise(records._starts.tolist()):
            here = records._weights[start:stop]
            is_part = here < records.full_weight
            here[is_part] = here[is_part] * records.full_weight // max(1, here[is_part].sum())
        totals = records.class_totals()
        return [
            replace(node, exact_totals=totals[place]) if isinstance(node, OpenNode) else node
            for place, node in enumerate(below)
        ]

    patch.setattr(ClassGrowth, "next_level", mutant)


def noise_for_a_weight_of_one(patch: Patch) -> None:
    patch.setattr(_noisy_counts, "Geometric", lambda epsilon, full_weight: Geometric(epsilon))


def rate_for_a_weight_of_one(patch: Patch) -> None:
    """Of splits and of subtrees."""
    patch.setattr(
        _growth,
        "SequentialExponential",
        lambda epsilon, most: SequentialExponential(epsilon, most // _weights.FULL_WEIGHT),
    )


def interval_for_a_weight_of_one(patch: Patch) -> None:
    patch.setattr(
        _intervals,
        "DenseInterval",
        lambda epsilon, levels, enough, full_weight: DenseInterval(epsilon, levels, enough),
    )


def balanced_by_exact_counts(patch: Patch) -> None:
    """The noisy class counts are paid for, and the exact ones are used."""
    real = _class_factors.release_counts

    def mutant(records: Any, exact: Any, *charge: Any) -> Any:
        real(records, exact, *charge)
        return (exact + records.full_weight // 2) // records.full_weight

    patch.setattr(_class_factors, "release_counts", mutant)


def factors_above_the_full_factor(patch: Patch) -> None:
    """As scikit-learn's balanced weights, which are 1 in the mean, are above 1."""
    real = _class_factors.balanced_factors
    patch.setattr(_class_factors, "FULL_FACTOR", _class_factors.FULL_FACTOR // 2)
    patch.setattr(
        _class_factors, "balanced_factors", lambda *given: tuple(2 * one for one in real(*given))
    )
