"""The code of the mutants of hold-outs: a record is in both parts, or moves others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from privatree.counting.dealing import Part, PassDealing

Patch = pytest.MonkeyPatch


def dealt_by_position(patch: Patch) -> None:
    patch.setattr(
        PassDealing, "are_held_out", lambda dealt, batch: np.arange(batch.n_rows) % 2 == 0
    )


def dealt_in_fixed_sizes(patch: Patch) -> None:
    """Half of the records, those with the smallest coins, are held out."""
    real = PassDealing.are_held_out

    def mutant(dealt: PassDealing, batch: Any) -> Any:
        order = np.argsort(~real(dealt, batch), kind="stable")
        return np.isin(np.arange(batch.n_rows), order[: batch.n_rows // 2])

    patch.setattr(PassDealing, "are_held_out", mutant)


def held_out_and_trained_on(patch: Patch) -> None:
    _select_all(patch, held_out=False)


def trained_on_and_scored(patch: Patch) -> None:
    _select_all(patch, held_out=True)


def _select_all(patch: Patch, *, held_out: bool) -> None:
    """All records count in one of the parts, but in the other only its own."""
    real = Part.select

    def mutant(part: Part, batch: Any, are_held_out: Any) -> Any:
        return batch if part.is_held_out == held_out else real(part, batch, are_held_out)

    patch.setattr(Part, "select", mutant)
