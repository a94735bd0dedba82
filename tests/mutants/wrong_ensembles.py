"""The code of the mutants of ensembles: each changes the real code, a little."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from privatree.counting.sums import FINE_STEPS, CodeStep, RoundTables, _signed_sums, _weight_rule
from privatree.learners.boosting import Boosting, NumberBoosting, _boost, _plan
from privatree.learners.boosting._released import released_function
from privatree.model.ensemble import Round
from privatree.privacy import Composition, Ledger, Randomness
from privatree.privacy.mechanisms import SequentialExponential

Patch = pytest.MonkeyPatch
_Q = _weight_rule.FULL_SIGNED_WEIGHT

# --- scores and weights ---------------------------------------------------------------------------


def range_halved(patch: Patch) -> None:
    """As if a record changed scores by 0 to Q, and not by -Q to Q."""
    patch.setattr(
        _boost,
        "SequentialExponential",
        lambda epsilon, most: SequentialExponential(epsilon, most // 2),
    )


def range_of_a_weight_of_one(patch: Patch) -> None:
    patch.setattr(
        _boost,
        "SequentialExponential",
        lambda epsilon, most: SequentialExponential(epsilon, 2 * _Q),
    )


def weights_not_clipped(patch: Patch) -> None:
    """The gradient of the logistic loss is scaled, and not clipped."""
    patch.setattr(
        _weight_rule,
        "_logistic_weight",
        lambda margin, *scale: round(2 * _Q / (1 + math.exp(margin))),
    )


def weights_normalised(patch: Patch) -> None:
    """All weights together are those of four records, however many there are."""
    real = _signed_sums.MemorySums._signed_weights

    def mutant(sums: Any, rule: Any) -> Any:
        signed = real(sums, rule).astype(np.int64)
        return signed * 4 * _Q // max(1, int(np.abs(signed).sum()))

    patch.setattr(_signed_sums.MemorySums, "_signed_weights", mutant)


def margins_from_the_best_function(patch: Patch) -> None:
    """A function is drawn and released; weights follow from the exact majority of each code."""

    def mutant(boosting: Any, drawn: Any, code: Any) -> None:
        released = released_function(drawn, boosting.candidates, boosting._schema)
        boosting._released.append(Round(released, tuple(code)))
        codes, labels = boosting._sums._codes[0], boosting._sums._labels.astype(np.int64)
        votes = np.bincount(codes, 2 * labels - 1, boosting.candidates.n_codes[0])
        best = CodeStep(0, np.where(votes >= 0, 1, -1).astype(np.int8))
        boosting._sums.add_round(RoundTables.of_function(best, boosting._plan.max_depth, [1]))

    patch.setattr(Boosting, "add_function", mutant)


def residuals_not_clipped(patch: Patch) -> None:
    """The residual of a numeric target, in parts of the scale, however large it is."""

    def mutant(
        rule: Any, scores: Any, labels: Any, weights: Any, first: int, last: int, signed: Any
    ) -> None:
        targets = FINE_STEPS * labels[first:last].astype(np.int64) + FINE_STEPS // 2
        residuals = targets - rule.start - scores[first:last, 0]
        signed[first:last] = np.rint(_Q * residuals / rule.scale)

    patch.setattr(_weight_rule.ResidualRule, "sign_records", mutant)


# --- what only released values may decide ---------------------------------------------------------


def rounds_from_exact_n(patch: Patch) -> None:
    """The noisy number of records is paid for, and the exact one used."""
    real = _boost.release_size

    def mutant(records: Any, *rest: Any) -> int:
        real(records, *rest)
        return int(records.class_totals().sum())

    patch.setattr(_boost, "release_size", mutant)


def step_from_exact_n(patch: Patch) -> None:
    real = Boosting.__init__

    def mutant(boosting: Any, records: Any, *rest: Any) -> None:
        real(boosting, records, *rest)
        exact_size = int(records.class_totals().sum())
        boosting.rounds = replace(boosting.rounds, step=1 / math.sqrt(1 + exact_size))

    patch.setattr(Boosting, "__init__", mutant)


def start_from_the_exact_mean(patch: Patch) -> None:
    """The noisy mean of the target is paid for, and the exact one used."""
    real = NumberBoosting._begin

    def mutant(boosting: Any, records: Any, size: int) -> None:
        exact_codes = records.class_totals()[0]
        real(boosting, records, size)
        exact_mean = exact_codes @ np.arange(len(exact_codes)) / max(1, exact_codes.sum())
        boosting._start = round(FINE_STEPS * float(exact_mean))

    patch.setattr(NumberBoosting, "_begin", mutant)


def scale_from_exact_residuals(patch: Patch) -> None:
    """The noisy residuals are paid for, and the exact ones used."""
    real = NumberBoosting._next_scale

    def mutant(boosting: Any) -> int:
        real(boosting)
        signed = boosting._sums.residual_counts(boosting._start, np.array([2**22, 2**24]))
        return 2**21 + int(signed[1])

    patch.setattr(NumberBoosting, "_next_scale", mutant)


def root_measure_from_the_data(patch: Patch) -> None:
    """A root is the more likely beforehand, the more records it has on its left."""
    real = Boosting._law

    def mutant(boosting: Any, *rest: Any) -> Any:
        law = real(boosting, *rest)
        measure = law.roots.measure.copy()
        for feature in law.roots.rows.used_features():
            codes = boosting._sums._codes[feature].astype(np.int64)
            for root in range(int(law.roots.n_candidates[feature])):
                measure[feature, root] *= 1 + 9 * np.count_nonzero(codes <= root)
        measure /= measure.sum() or 1.0
        return replace(law, roots=law.roots._replace(measure=measure))

    patch.setattr(Boosting, "_law", mutant)


def class_code_from_the_data(patch: Patch) -> None:
    """The class with the most records against the rest."""
    real = Boosting.run_round

    def mutant(boosting: Any) -> None:
        if boosting._plan.n_classes == 2:
            real(boosting)
            return
        exact_counts = np.bincount(boosting._sums._labels, minlength=boosting._plan.n_classes)
        best = int(exact_counts.argmax())
        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(
                _boost, "class_code", lambda n, turn: [1 if k == best else -1 for k in range(n)]
            )
            real(boosting)

    patch.setattr(Boosting, "run_round", mutant)


def measure_from_the_data(patch: Patch) -> None:
    """The interval that the measure of terms rests on is that of the records, and is not drawn."""
    real = _boost.zoom_in

    def mutant(records: Any, cells: Any, *rest: Any) -> Any:
        zoom = real(records, cells, *rest)
        numbers = [
            place
            for place, cuts in enumerate(zoom.candidates.cuts)
            if cuts is not None and len(cuts)
        ]
        exact = {}
        for place in numbers:
            feature = list(cells.schema.features.values())[place]
            rows = slice(records.offsets[place], records.offsets[place + 1])
            (used,) = records.class_counts()[0][:, rows].sum(axis=0).nonzero()
            ends = [float(feature.low), *zoom.candidates.cuts[place].tolist(), float(feature.high)]
            if len(used):
                exact[place] = (ends[used[0]], ends[used[-1] + 1])
        return zoom._replace(intervals=exact)

    patch.setattr(_boost, "zoom_in", mutant)


# --- the account ----------------------------------------------------------------------------------


def range_not_certified(patch: Patch) -> None:
    """It is a third larger than what the search found."""
    real = _plan.largest_range

    def mutant(epsilon: Any, delta: Any, pattern: Any) -> Any:
        return real(epsilon, delta, pattern) * 4 / 3

    patch.setattr(_plan, "largest_range", mutant)


def range_that_nobody_certifies(patch: Patch) -> None:
    range_not_certified(patch)
    patch.setattr(Composition, "certify", lambda *given, **more: None)


def intervals_outside_the_composition(patch: Patch) -> None:
    """Intervals have a ledger of their own."""
    real = _boost.zoom_in

    def mutant(records: Any, cells: Any, size: int, epsilon: Any, ledger: Any) -> Any:
        if not epsilon:
            return real(records, cells, size, epsilon, ledger)
        own = Ledger(1 + len(cells.features) * epsilon, Randomness(0))
        if hasattr(ledger, "_script"):  # where executions are enumerated
            own = type(ledger)(own, ledger._script, ledger._counts, ledger._records)
        return real(records, cells, size, epsilon, own)

    patch.setattr(_boost, "zoom_in", mutant)


def no_charge_for_a_round(patch: Patch) -> None:
    patch.setattr(
        Ledger, "open_draw", lambda ledger, mechanism, **charge: mechanism.open(ledger._randomness)
    )
