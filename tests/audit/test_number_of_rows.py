"""How many rows there are decides nothing in ``fit``, whatever the number at which it would.

Neighbouring tables of other tests are small, so a decision at a large number would not show there.
Here the number of rows that a table tells refuses to be looked at; and tables of every order of
magnitude are handed over alike, which also shows decisions by the length of an array.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from fit_cases import LEARNERS, SMALL, TABLE, as_array
from handing_over import handed_over

from privatree import Categorical, Numeric, PrivaTreeClassifier, Schema
from privatree.counting import FineCells
from privatree.estimators import PrivaTreeClassifier as Learner
from privatree.estimators import _base as estimator_base


class LookedAtError(Exception):
    """Somebody used what is not to be used."""


def _refuse(*arguments):
    raise LookedAtError


_USES = {name: _refuse for name in vars(int) if name not in ("__new__", "__index__", "__doc__")}

Untouchable = type("Untouchable", (), _USES)
"""Refuses everything that a number can do."""


class Secret(int):
    """A number that gives the size of an array and equals itself, and refuses everything else."""

    vars().update({name: use for name, use in _USES.items() if name != "__getattribute__"})

    def __eq__(self, other):
        return int.__eq__(self, other) or _refuse()

    def __ne__(self, other):
        return not self == other


@pytest.mark.parametrize(
    "use",
    [
        lambda n: n > 200_000, lambda n: n <= 10**9, lambda n: n == 0, lambda n: n != 5, bool,
        lambda n: min(10, n), lambda n: n + 1, lambda n: 2 * n, lambda n: n % 2, lambda n: n // 9,
        lambda n: n.bit_length(), int, float, str, repr, hash, lambda n: f"{n}", round, abs,
        lambda n: {1: 2}.get(n),
    ],
)  # fmt: skip
def test_what_is_not_to_be_used_refuses(use):
    for value in (Secret(7), Untouchable()):
        with pytest.raises((LookedAtError, TypeError)):
            use(value)


def test_a_secret_number_is_a_size():
    assert np.empty((Secret(7), 2)).shape == (7, 2)
    assert Secret(7) == 7


def looked_at(**parameters):
    """The error, if any, of fitting a table that does not want its rows to be counted."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("open_frame", "open_labels"):
            real = getattr(estimator_base, name)

            def secretly(*arguments, real=real):
                table = real(*arguments)
                return replace(table, n_rows=Secret(table.n_rows))

            patch.setattr(estimator_base, name, secretly)
        learner = PrivaTreeClassifier(**(SMALL | parameters))
        return handed_over(learner, *as_array(TABLE)).public.get("error")


@pytest.mark.parametrize("name", LEARNERS)
def test_fit_does_not_look_at_the_number_of_rows(name):
    assert looked_at(**LEARNERS[name]) is None


def test_where_the_number_of_rows_is_public_it_is_looked_at():
    assert "LookedAtError" in looked_at(neighbours="replace")


def plan_of(n_rows, **parameters):
    learner = PrivaTreeClassifier(**(SMALL | parameters))
    return learner._make_plan(FineCells.from_schema(learner.schema, 8), None, n_rows)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_plan_does_not_touch_the_number_of_rows(name):
    assert plan_of(Untouchable(), **LEARNERS[name]) == plan_of(0, **LEARNERS[name])


# --- every order of magnitude ---------------------------------------------------------------------

NUMBERS = Schema({"size": Numeric(0, 1), "kind": Categorical([0, 1, 2])}, [0, 1])
SIZES = [0, *(2**power for power in range(23))]  # to four million


@cache
def rows_of_one_kind(size):
    """So many times one row, in the memory of one."""
    row, label = np.array([0.5, 1], dtype=np.float32), np.int8(1)
    return np.broadcast_to(row, (size, 2)), np.broadcast_to(label, size)


def sizes_that_differ():
    """The sizes that are handed over other than a table without rows; all choices are automatic."""
    learner = PrivaTreeClassifier(schema=NUMBERS, random_state=0, max_depth=None)
    first, *rest = (
        handed_over(learner, *rows_of_one_kind(size), count=False).public for size in SIZES
    )
    assert "error" not in first
    return [size for size, public in zip(SIZES[1:], rest, strict=True) if public != first]


def test_tables_of_all_sizes_are_handed_over_alike():
    assert sizes_that_differ() == []


# --- mutants --------------------------------------------------------------------------------------


def test_a_free_depth_from_the_number_of_rows_is_seen(monkeypatch):
    real = Learner._make_plan

    def mutant(self, cells, class_factors, n_rows):
        plan = real(self, cells, class_factors, n_rows)
        if self.max_depth is None:
            plan = replace(plan, max_depth=max(1, min(10, n_rows.bit_length())))
        return plan

    monkeypatch.setattr(Learner, "_make_plan", mutant)
    with pytest.raises(LookedAtError):
        plan_of(Untouchable(), max_depth=None)
    assert "LookedAtError" in looked_at(max_depth=None)
    assert sizes_that_differ() == SIZES[2:]


@pytest.mark.parametrize(("threshold", "is_reached"), [(200_000, True), (10**9, False)])
def test_bins_by_the_number_of_rows_are_seen(monkeypatch, threshold, is_reached):
    real = Learner._open_frame

    def mutant(self, *arguments, **options):
        table, target, schema = real(self, *arguments, **options)
        if self.n_bins == "auto" and table.n_rows > threshold:
            self.set_params(n_bins=64)
        return table, target, schema

    monkeypatch.setattr(Learner, "_open_frame", mutant)
    assert "LookedAtError" in looked_at()
    assert sizes_that_differ() == [size for size in SIZES if size > threshold]
    assert bool(sizes_that_differ()) == is_reached


def test_a_depth_by_the_length_of_the_records_is_seen(monkeypatch):
    real = Learner._open_records

    def mutant(self, *arguments, **beside):
        found = real(self, *arguments, **beside)
        if found.records._batch.n_rows > 1_000_000:
            self.set_params(max_depth=8)
        return found

    monkeypatch.setattr(Learner, "_open_records", mutant)
    assert sizes_that_differ() == [2**20, 2**21, 2**22]
