import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privatree import counts
from privatree.counts import CodedRecords, code_numbers


def brute_force(codes, n_codes, labels, nodes, n_nodes, n_classes):
    expected = []
    for feature, size in zip(codes, n_codes, strict=True):
        table = np.zeros((n_nodes, size, n_classes), dtype=np.int64)
        for code, label, node in zip(feature, labels, nodes, strict=True):
            if node >= 0:
                table[node, code, label] += 1
        expected.append(table)
    return expected


@st.composite
def coded(draw):
    n = draw(st.integers(0, 40))
    n_codes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    n_classes = draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    codes = [rng.integers(0, size, n).astype(np.uint8) for size in n_codes]
    labels = rng.integers(0, n_classes, n).astype(np.int32)
    return codes, n_codes, labels, n_classes, rng


@given(coded())
@settings(deadline=None)
def test_counts_and_descent_agree_with_brute_force(table):
    codes, n_codes, labels, n_classes, rng = table
    records = CodedRecords(codes, n_codes, labels, n_classes)
    nodes = np.zeros(len(labels), dtype=int)
    n_nodes = 1
    for _ in range(3):
        expected = brute_force(codes, n_codes, labels, nodes, n_nodes, n_classes)
        for got, wanted in zip(records.class_counts(n_nodes), expected, strict=True):
            np.testing.assert_array_equal(got, wanted)
        np.testing.assert_array_equal(records.class_totals(n_nodes), expected[0].sum(axis=1))
        features = rng.integers(-1, len(codes), n_nodes).astype(np.int32)
        children = rng.integers(0, 2 * n_nodes, (n_nodes, max(n_codes))).astype(np.int32)
        records.descend(features, children)
        nodes = np.array(
            [
                children[node, codes[features[node]][record]]
                if node >= 0 and features[node] >= 0
                else -1
                for record, node in enumerate(nodes)
            ],
            dtype=np.int32,
        ).reshape(-1)
        n_nodes *= 2


def test_two_threads_count_the_same(monkeypatch):
    rng = np.random.default_rng(0)
    codes = [rng.integers(0, 300, 30_000).astype(np.uint16) for _ in range(5)]
    labels = rng.integers(0, 3, 30_000).astype(np.int32)

    def count():
        return CodedRecords(codes, [300] * 5, labels, 3).class_counts(1)

    threaded = count()
    monkeypatch.setattr(counts, "_FEW_RECORDS", 10**9)
    for one, two in zip(threaded, count(), strict=True):
        np.testing.assert_array_equal(one, two)
    assert threaded[0].sum() == 30_000


@given(
    st.lists(st.floats(-10, 10), max_size=300, unique=True),
    st.lists(st.floats(-11, 11), max_size=30),
)
@settings(deadline=None)
def test_a_value_equal_to_a_cut_belongs_to_its_left(cuts, values):
    cuts = np.sort(np.array(cuts, dtype=float))
    values = np.concatenate((np.array(values, dtype=float), cuts))
    np.testing.assert_array_equal(
        code_numbers(values, cuts), np.searchsorted(cuts, values, side="left")
    )


@pytest.mark.parametrize(("n_cuts", "dtype"), [(0, np.uint8), (255, np.uint8), (256, np.uint16)])
def test_codes_are_as_small_as_they_can_be(n_cuts, dtype):
    codes = code_numbers(np.array([1e9]), np.arange(n_cuts, dtype=float))
    assert codes.dtype == dtype
    assert codes[0] == n_cuts
