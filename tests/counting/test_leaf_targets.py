import numpy as np
import pytest
from numpy.testing import assert_array_equal

from privatree.counting import LEAF, BinnedRecords
from privatree.schema import TARGET_CODES


def records_with_targets(n_records, n_codes=5, weighted=False, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_codes, (n_records, 2)).astype(np.uint8)
    targets = rng.integers(0, TARGET_CODES, n_records).astype(np.uint16)
    weights = rng.integers(0, 8, n_records).astype(np.int32) if weighted else None
    records = BinnedRecords(
        codes,
        [n_codes] * 2,
        targets,
        TARGET_CODES,
        weights=weights,
        full_weight=8 if weighted else 1,
    )
    return records, codes, targets, np.ones(n_records, int) if weights is None else weights


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_records", [0, 1, 300])
def test_targets_are_counted_merged_and_summed_at_the_leaves(n_records, weighted):
    records, codes, targets, weights = records_with_targets(n_records, weighted=weighted)
    histogram = np.bincount(targets, weights, TARGET_CODES).astype(np.int64)
    assert_array_equal(records.class_totals(), [histogram])
    merged = (np.arange(TARGET_CODES) * 3 // TARGET_CODES).astype(np.uint8)
    records.merge_classes(merged, 3)
    assert records.n_classes == 3
    assert_array_equal(records.class_totals(), [np.bincount(merged[targets], weights, 3)])
    # the root splits on feature 0: leaf 0, node 0, node 0, leaf 1 (without records), node 1
    children = np.array([[LEAF, 0, 0, LEAF - 0, 1]], dtype=np.int32)
    records.descend(np.array([0], dtype=np.int32), children)
    at = [np.isin(codes[:, 0], [1, 2]), codes[:, 0] == 4]
    expected = [np.bincount(merged[targets[here]], weights[here], 3) for here in at]
    assert_array_equal(records.class_totals(), expected)
    # node 0 splits on feature 1: leaf 2, leaf 3; node 1 becomes leaf 1
    children = np.array([[LEAF - 2] * 2 + [LEAF - 3] * 3, [LEAF - 1] * 5], dtype=np.int32)
    records.descend(np.array([1, 0], dtype=np.int32), children)
    assert records.n_nodes == 0
    table = np.stack([np.arange(TARGET_CODES), np.ones(TARGET_CODES, int)], axis=1)
    leaves = [
        np.isin(codes[:, 0], [0, 3]),
        at[1],
        at[0] & (codes[:, 1] < 2),
        at[0] & (codes[:, 1] >= 2),
    ]
    expected = [(weights[here, None] * table[targets[here]]).sum(axis=0) for here in leaves]
    found = records.target_sums(table)
    assert found.dtype == np.int64
    assert_array_equal(found, expected)


def test_a_leaf_without_records_has_a_sum_of_zero():
    records, *_ = records_with_targets(0)
    records.merge_classes(np.zeros(TARGET_CODES, dtype=np.uint8), 2)
    records.descend(np.array([0], np.int32), np.full((1, 5), LEAF - 1, dtype=np.int32))
    assert_array_equal(records.target_sums(np.ones((TARGET_CODES, 3), np.int64)), np.zeros((2, 3)))


def test_the_arrays_that_were_passed_do_not_change():
    records, codes, targets, _ = records_with_targets(50)
    before = codes.copy(), targets.copy()
    records.merge_classes(np.zeros(TARGET_CODES, dtype=np.uint8), 2)
    records.descend(np.array([0], np.int32), np.array([[0, 1, LEAF, 0, 1]], np.int32))
    assert_array_equal(codes, before[0])
    assert_array_equal(targets, before[1])
