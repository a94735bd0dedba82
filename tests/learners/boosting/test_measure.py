"""Base measures add up to 1, and public choices are the same for everybody."""

from itertools import product

import numpy as np
import pytest

from privatree.counting import Candidates
from privatree.learners.boosting._measure import (
    ABSENT,
    CHAIN,
    FALLING,
    FREE,
    RISING,
    ROOT_CUTS,
    class_code,
    public_order,
    public_share,
    root_measure,
    step_measure,
)
from privatree.schema import Categorical, Numeric, Schema

SCHEMA = Schema(
    {
        "a": Numeric(0, 5, integer=True, missing="separate"),
        "b": Categorical(["x", "y"]),
        "c": Numeric(0, 3, integer=True),
        "d": Numeric(0, 3, integer=True, missing="separate"),
        "e": Categorical(["x", "y", "z"], missing="separate"),
        "f": Numeric(1, 1),
        "g": Numeric(0, 1000),
    },
    [0, 1],
)
CANDIDATES = Candidates.from_schema(SCHEMA, 256)

ORDER = [4, 1, 3, 5, 2, 0]
SHARES = [0.147524, 0.897995, 0.100297]
CODES = [[-1, 1, 1, -1, -1], [1, 1, 1, -1, -1]]
EVEN_CODES = [[-1, 1, 1, -1], [1, -1, 1, -1]]


def test_kinds_and_places_of_missing_values():
    measure = step_measure(CANDIDATES, [0, 0, 1, -1, 0, 0, 0])
    assert measure.kind.tolist() == [CHAIN, FREE, RISING, FALLING, FREE, ABSENT, CHAIN]
    assert measure.n_missing.tolist() == [1, 0, 0, 1, 0, 0, 0]
    assert measure.share == 1 / 6
    inner = measure.switch[CANDIDATES.offsets[6] : CANDIDATES.offsets[7] - 1]
    assert inner.min() >= 2.0**-40  # the proof of the floats needs it
    assert inner.max() <= 0.5
    assert inner.sum() == pytest.approx(2, rel=0.05)


@pytest.mark.parametrize("feature", [0, 2, 3])
@pytest.mark.parametrize("direction", [0, 1, -1])
def test_the_measure_of_all_functions_of_a_number_is_one(feature, direction):
    directions = [0] * 7
    directions[feature] = direction
    measure = step_measure(CANDIDATES, directions)
    first, last = CANDIDATES.offsets[feature : feature + 2].tolist()
    missing = int(measure.n_missing[feature])
    switch, stay = measure.switch[first : last - 1], measure.stay[first : last - 1]
    total = 0.0
    for signs in product((0, 1), repeat=last - first):
        changes = np.diff(signs) != 0
        if not direction:
            total += 0.5 * float(np.prod(np.where(changes, switch, stay)))
            continue
        inner = changes[missing:]
        falls = (np.diff(signs)[missing:] * direction < 0).any()
        if not falls and inner.sum() <= 1:
            one = switch[missing:][inner].sum() if inner.any() else 0.25
            total += one / 2**missing
    assert total == pytest.approx(1.0)


def test_the_measure_of_all_roots_is_one():
    roots = root_measure(CANDIDATES, [0, 1, 4, 6])
    assert roots.measure.sum() == pytest.approx(1.0)
    assert roots.measure[[0, 1, 4, 6]].sum(axis=1) == pytest.approx([0.25] * 4)
    assert roots.n_candidates[[0, 1, 4, 6]].tolist() == [6, 1, 4, ROOT_CUTS]
    split = roots.split(4, 2, CANDIDATES.offsets)
    assert split.goes_left.tolist() == [False, False, True, False]
    split = roots.split(0, 0, CANDIDATES.offsets)  # missing values against the rest
    assert split.goes_left.tolist() == [True] + [False] * 6
    none = root_measure(CANDIDATES, [])
    assert none.rows.n_rows == 0


def test_public_choices_are_pinned():
    """They decide what a seed trains. A change of them is a change of all models by seed."""
    assert public_order(6, "roots", 0) == ORDER
    assert public_order(6, "roots", 1) != ORDER
    assert sorted(public_order(50, "tops", 3)) == list(range(50))
    assert [round(public_share("top cuts", turn, 0), 6) for turn in range(3)] == SHARES
    assert [class_code(5, turn) for turn in range(2)] == CODES
    assert [class_code(4, turn) for turn in range(2)] == EVEN_CODES


def test_codes_of_classes_are_balanced_and_all_classes_change_sides():
    assert class_code(2, 7) == [-1, 1]
    for n_classes in (3, 4, 7, 10):
        codes = np.array([class_code(n_classes, turn) for turn in range(40)])
        assert set(codes.sum(axis=1)) <= {-1, 0, 1}
        assert (np.abs(codes.sum(axis=0)) < 40).all()
