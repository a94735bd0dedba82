import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from privatree.counting import BinnedRecords, Rows, bin_numbers
from privatree.counting import _counts as counts

# --- by brute force: one record at a time -------------------------------------------------------


def class_counts(codes, n_codes, labels, n_classes, nodes, n_nodes, weights=None):
    """(node, class, code), the codes of all features side by side."""
    weights = np.ones(len(labels), dtype=int) if weights is None else weights
    offsets = np.cumsum([0, *n_codes])
    table = np.zeros((n_nodes, n_classes, offsets[-1]), dtype=np.int64)
    for record, label, node, weight in zip(codes, labels, nodes, weights, strict=True):
        if node >= 0:
            for feature, code in enumerate(record):
                table[node, label, offsets[feature] + code] += weight
    return table


def pair_counts(codes, n_codes, labels, n_classes, chosen, upper, weights=None):
    """Differences (row, class but the first, code) and totals (row, class) of some records."""
    weights = np.ones(len(labels), dtype=int) if weights is None else weights
    offsets = np.cumsum([0, *n_codes])
    table = np.zeros((upper.n_rows, n_classes, offsets[-1]), dtype=np.int64)
    totals = np.zeros((upper.n_rows, n_classes), dtype=np.int64)
    for record, label, weight in zip(codes[chosen], labels[chosen], weights[chosen], strict=True):
        row = upper.row_of_code[record[upper.feature]]
        totals[row, label] += weight
        for feature, code in enumerate(record):
            table[row, label, offsets[feature] + code] += weight
    return table[:, 1:] - table[:, :1], totals


def random_rows(rng, feature, n_codes):
    n_rows = int(rng.integers(1, n_codes + 1))
    row_of_code = np.sort(rng.integers(0, n_rows, n_codes)).astype(np.int32)
    return Rows(feature, row_of_code, n_rows)


@st.composite
def coded(draw):
    n = draw(st.integers(0, 40))
    n_codes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    n_classes = draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from([np.uint8, np.uint16]))
    codes = np.array([rng.integers(0, size, n) for size in n_codes]).T.astype(kind)
    labels = rng.integers(0, n_classes, n).astype(np.uint8)
    return np.ascontiguousarray(codes), n_codes, labels, n_classes, rng


def levels(table, n_levels=3, **weights):
    """Send the records down at random; on each level, the records and the node of each."""
    codes, n_codes, labels, n_classes, rng = table
    records = BinnedRecords(codes, n_codes, labels, n_classes, **weights)
    nodes, n_nodes = np.zeros(len(labels), dtype=int), 1
    for _ in range(n_levels):
        yield records, nodes, n_nodes
        features = rng.integers(-1, len(n_codes), n_nodes).astype(np.int32)
        children = rng.integers(0, 2 * n_nodes, (n_nodes, max(n_codes))).astype(np.int32)
        n_nodes = children[features >= 0].max(initial=-1) + 1
        records.descend(features, children)
        nodes = np.array(
            [
                children[node, codes[record, features[node]]]
                if node >= 0 and features[node] >= 0
                else -1
                for record, node in enumerate(nodes)
            ],
            dtype=np.int64,
        )


@pytest.mark.slow
@given(coded())
def test_counts_and_descent_agree_with_brute_force(table):
    codes, n_codes, labels, n_classes, _ = table
    before = codes.copy(), labels.copy()
    for records, nodes, n_nodes in levels(table):
        assert records.n_nodes == n_nodes
        expected = class_counts(codes, n_codes, labels, n_classes, nodes, n_nodes)
        got = records.class_counts()
        assert got.dtype == np.int64
        assert_array_equal(got, expected)
        totals = records.class_totals()
        assert totals.dtype == np.int64
        assert_array_equal(totals, expected[:, :, : n_codes[0]].sum(axis=2))
    assert_array_equal(codes, before[0])
    assert_array_equal(labels, before[1])


@given(coded())
def test_pair_counts_agree_with_brute_force(table):
    codes, n_codes, labels, n_classes, rng = table
    for records, nodes, n_nodes in levels(table, 2):
        for node in range(n_nodes):
            feature = int(rng.integers(len(n_codes)))
            upper = random_rows(rng, feature, n_codes[feature])
            differences, totals = records.pair_counts(node, upper)
            expected = pair_counts(codes, n_codes, labels, n_classes, nodes == node, upper)
            assert_array_equal(differences, expected[0])
            assert_array_equal(totals, expected[1])


@pytest.mark.slow
@given(coded())
def test_triple_counts_agree_with_brute_force(table):
    codes, n_codes, labels, n_classes, rng = table
    for records, nodes, n_nodes in levels(table, 2):
        for node in range(n_nodes):
            feature = int(rng.integers(len(n_codes)))
            upper = random_rows(rng, feature, n_codes[feature])
            used = np.flatnonzero(rng.random(len(n_codes)) < 0.7).tolist() or [0]
            middle = [random_rows(rng, other, n_codes[other]) for other in used]
            found = list(records.triple_counts(node, upper, middle))
            assert len(found) == upper.n_rows
            for row, (differences, totals) in enumerate(found):
                chosen = (nodes == node) & (upper.row_of_code[codes[:, feature]] == row)
                expected = [
                    pair_counts(codes, n_codes, labels, n_classes, chosen, group)
                    for group in middle
                ]
                assert_array_equal(differences, np.concatenate([part[0] for part in expected]))
                assert_array_equal(totals, np.concatenate([part[1] for part in expected]))


@pytest.mark.slow
@given(coded())
def test_rows_of_a_pair_table_add_up_to_the_class_counts(table):
    _, n_codes, _, _, rng = table
    for records, _, n_nodes in levels(table, 2):
        exact_counts = records.class_counts()
        for node in range(n_nodes):
            feature = int(rng.integers(len(n_codes)))
            differences, totals = records.pair_counts(
                node, random_rows(rng, feature, n_codes[feature])
            )
            expected = exact_counts[node, 1:] - exact_counts[node, :1]
            assert_array_equal(differences.sum(axis=0), expected)
            assert_array_equal(totals.sum(axis=0), records.class_totals()[node])


def everything(codes, n_codes, labels, n_classes):
    """All counts of a tree of two levels."""
    records = BinnedRecords(codes, n_codes, labels, n_classes)
    rng = np.random.default_rng(5)
    children = rng.integers(0, 7, (1, max(n_codes))).astype(np.int32)
    found = [records.class_counts()]
    records.descend(np.array([1], dtype=np.int32), children)
    found += [records.class_counts(), records.class_totals()]
    upper = random_rows(rng, 0, n_codes[0])
    found += records.pair_counts(3, upper)
    for parts in records.triple_counts(3, upper, [random_rows(rng, 2, n_codes[2])]):
        found += parts
    return found


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
def test_threads_count_the_same(monkeypatch, n_classes):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 300, (2001, 5)).astype(np.uint16)
    labels = rng.integers(0, n_classes, 2001).astype(np.uint8)
    assert counts._FEW_RECORDS > 2001
    alone = everything(codes, [300] * 5, labels, n_classes)
    monkeypatch.setattr(counts, "_FEW_RECORDS", 1)
    for threads in (1, 2, 5):
        monkeypatch.setattr(counts, "THREADS", threads)
        for one, two in zip(alone, everything(codes, [300] * 5, labels, n_classes), strict=True):
            assert_array_equal(one, two)
    assert alone[0].sum() == 5 * 2001
    assert alone[1].shape[0] == 7


@pytest.mark.parametrize("n_classes", [2, 3])
def test_very_many_records_are_counted_in_64_bits(monkeypatch, n_classes):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 9, (300, 3)).astype(np.uint8)
    labels = rng.integers(0, n_classes, 300).astype(np.uint8)
    small = everything(codes, [9] * 3, labels, n_classes)
    assert np.iinfo(np.int32).max == counts._MAX_SMALL
    monkeypatch.setattr(counts, "_MAX_SMALL", 299)
    for one, two in zip(small, everything(codes, [9] * 3, labels, n_classes), strict=True):
        assert_array_equal(one, two)
        assert two.dtype == np.int64


def test_threads_are_used_from_some_size_on(monkeypatch):
    used = []

    class Pool:
        def __init__(self, max_workers):
            used.append(max_workers)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        map = staticmethod(map)

    monkeypatch.setattr(counts, "ThreadPoolExecutor", Pool)
    monkeypatch.setattr(counts, "_FEW_RECORDS", 100)
    for n, expected in ((99, []), (100, [counts.THREADS])):
        records = BinnedRecords(np.zeros((n, 1), np.uint8), [2], np.zeros(n, np.uint8), 2)
        assert records.class_counts()[0, 0, 0] == n
        assert used == expected
        assert records.map_in_threads(lambda x: x + 1, [1]) == [2]
        assert used == expected, "one item needs no threads"


@given(
    st.lists(st.floats(-10, 10), max_size=300, unique=True),
    st.lists(st.floats(-11, 11), max_size=30),
)
def test_a_value_equal_to_a_cut_belongs_to_its_left(cuts, values):
    cuts = np.sort(np.array(cuts, dtype=float))
    values = np.concatenate((np.array(values, dtype=float), cuts))
    assert_array_equal(bin_numbers(values, cuts), np.searchsorted(cuts, values, side="left"))


@pytest.mark.parametrize(("n_cuts", "dtype"), [(0, np.uint8), (255, np.uint8), (256, np.uint16)])
def test_codes_are_as_small_as_they_can_be(n_cuts, dtype):
    codes = bin_numbers(np.array([1e9]), np.arange(n_cuts, dtype=float))
    assert codes.dtype == dtype
    assert codes[0] == n_cuts


# --- weights ------------------------------------------------------------------------------------


@pytest.mark.slow
@given(coded(), st.sampled_from([1, 7, 2**14, 2**30]))
def test_weighted_counts_agree_with_brute_force(table, full_weight):
    codes, n_codes, labels, n_classes, rng = table
    weights = rng.integers(0, full_weight + 1, len(labels)).astype(np.int32)
    weighted = {"weights": weights, "full_weight": full_weight}
    for records, nodes, n_nodes in levels(table, 2, **weighted):
        arguments = (codes, n_codes, labels, n_classes)
        expected = class_counts(*arguments, nodes, n_nodes, weights)
        assert_array_equal(records.class_counts(), expected)
        assert_array_equal(records.class_totals(), expected[:, :, : n_codes[0]].sum(axis=2))
        for node in range(n_nodes):
            upper, middle = (random_rows(rng, f, n_codes[f]) for f in (0, len(n_codes) - 1))
            differences, totals = pair_counts(*arguments, nodes == node, upper, weights)
            got, got_totals = records.pair_counts(node, upper)
            assert_array_equal(got, differences)
            assert_array_equal(got_totals, totals)
            for row, (got, got_totals) in enumerate(records.triple_counts(node, upper, [middle])):
                chosen = (nodes == node) & (upper.row_of_code[codes[:, 0]] == row)
                differences, totals = pair_counts(*arguments, chosen, middle, weights)
                assert_array_equal(got, differences)
                assert_array_equal(got_totals, totals)


@given(coded(), st.booleans())
def test_classes_are_weighed_exactly_at_any_time_before_the_first_level(table, is_counted_before):
    codes, n_codes, labels, n_classes, rng = table
    weights = rng.integers(0, 8, len(labels)).astype(np.int32)
    factors = rng.integers(1, 11, n_classes)
    records = BinnedRecords(codes, n_codes, labels, n_classes, weights=weights, full_weight=7)
    if is_counted_before:
        records.class_counts()
    records.weigh_classes(factors.tolist(), 10)
    assert records.full_weight == 70
    nodes = np.zeros(len(labels), dtype=int)
    arguments = (codes, n_codes, labels, n_classes, nodes, 1)
    expected = class_counts(*arguments, weights * factors[labels])
    assert_array_equal(records.class_counts(), expected)
    assert_array_equal(records.class_totals(), expected[:, :, : n_codes[0]].sum(axis=2))


def test_many_heavy_records_do_not_overflow():
    n, full = 300_000, 2**14  # 32 bits hold 131,071 such records
    codes, labels = np.zeros((n, 1), np.uint8), np.ones(n, np.uint8)
    weights = np.full(n, full, np.int32)
    records = BinnedRecords(codes, [1], labels, 2, weights=weights, full_weight=full)
    upper = Rows(0, np.zeros(1, np.int32), 1)
    assert records.class_counts()[0, 1, 0] == n * full
    assert records.pair_counts(0, upper)[0][0, 0, 0] == n * full
