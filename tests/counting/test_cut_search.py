import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from privatree.counting import Candidates
from privatree.counting._cut_search import CutSearch
from privatree.schema import Numeric, Schema

LARGEST, TINY = np.finfo(float).max, 5e-324


def check(cuts, values, missing=0, dtype=np.uint16):
    """Compare with a plain search; in three columns of five, so that the others must stay."""
    values = np.asarray(values, dtype=float)
    codes = np.full((len(values), 5), 77, dtype=dtype)
    numbers = np.stack([values, values[::-1], values])
    others = [cuts, np.array([0.0]), np.empty(0)]
    CutSearch(others, [missing, 1, 0]).fill_bins(numbers, codes, np.array([3, 0, 1]))
    for column, part, row, nan in zip((3, 0, 1), others, numbers, (missing, 1, 0), strict=True):
        above_all = np.where(row == -np.inf, -LARGEST, row)  # minus infinity is a number, too
        bins = np.searchsorted(part, above_all if -np.inf in part else row)
        expected = np.where(np.isnan(row), nan, bins)
        assert_array_equal(codes[:, column], expected)
    assert (codes[:, [2, 4]] == 77).all()


def around(cuts):
    """Every cut, its neighbours, the middles between cuts, and what else a float can be."""
    cuts = np.asarray(cuts, dtype=float)
    with np.errstate(all="ignore"):
        middles = cuts[:-1] / 2 + cuts[1:] / 2
        down, up = np.nextafter(cuts, -np.inf), np.nextafter(cuts, np.inf)
    ends = [np.nan, np.inf, -np.inf, LARGEST, -LARGEST, 0.0, -0.0, TINY, -TINY, 1.0, -1.0]
    return np.concatenate((cuts, down, up, middles, ends))


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=30, unique=True),
    st.lists(st.floats(), max_size=20),
)
def test_any_cuts_and_any_values(cuts, values):
    cuts = np.unique(cuts)
    check(cuts, np.concatenate((around(cuts), values)))
    check(np.append(-np.inf, cuts), np.concatenate((around(cuts), values)))


@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([1, 2, 3, 17, 40]),
    st.integers(0, 60),
)
def test_cuts_that_are_neighbours(first, n_cuts, power):
    cuts = [first]
    with np.errstate(over="ignore"):
        for _ in range(n_cuts):
            cuts.append(cuts[-1] + max(TINY, abs(np.spacing(cuts[-1]))) * 2.0 ** (power // 2))
    cuts = np.unique([cut for cut in cuts if np.isfinite(cut)])
    check(cuts, around(cuts))


@pytest.mark.parametrize(
    "cuts",
    [
        [],
        [0.0],
        [-LARGEST, LARGEST],
        [-LARGEST, 0.0, LARGEST],
        [-1e308, -1e300, -1.0, 0.0, TINY, 1.0, 1e308],
        [0.0, TINY],
        [-TINY, 0.0, TINY, 2 * TINY, 9 * TINY],
        [1.0, 1.0 + 2**-52],
        [TINY, LARGEST],
        [-1e-310, 1e-310],
        np.linspace(-1, 1, 100) * 1.7e308,
        np.linspace(0, 1e-320, 50),
    ],
    ids=lambda cuts: f"{len(cuts)} from {cuts[0] if len(cuts) else None}",
)
def test_ranges_that_overflow_or_vanish(cuts):
    cuts = np.unique(np.asarray(cuts, dtype=float))
    check(cuts, around(cuts), missing=len(cuts))
    check(np.append(-np.inf, cuts), around(cuts))


@pytest.mark.parametrize(
    "feature",
    [Numeric(-5, 5), Numeric(0, 1e6), Numeric(0, 99, integer=True), Numeric(-1e-9, 1e9)],
    ids=str,
)
def test_the_cuts_that_a_feature_gets(feature):
    (cuts,) = Candidates.from_schema(Schema({"x": feature}, [0, 1]), 256).cuts
    rng = np.random.default_rng(0)
    low, high = float(feature.low), float(feature.high)
    check(cuts, np.concatenate((around(cuts), rng.uniform(low, high, 5000), rng.normal(size=5000))))


@pytest.mark.slow
@pytest.mark.parametrize("n_cuts", [255, 256, 4096, 32766, 32767, 70_000])
def test_many_cuts(n_cuts):
    cuts = np.sort(np.random.default_rng(0).normal(size=n_cuts))
    check(cuts, around(cuts), missing=n_cuts - 1, dtype=np.min_scalar_type(n_cuts))


def test_no_features_and_no_rows():
    codes = np.full((3, 2), 7, dtype=np.uint8)
    CutSearch([], []).fill_bins(np.empty((0, 8)), codes, np.empty(0, dtype=np.int64))
    assert (codes == 7).all()
    CutSearch([np.array([1.0])], [0]).fill_bins(np.empty((1, 8)), codes[:0], np.array([0]))
