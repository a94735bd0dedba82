import numpy as np
import pandas as pd
import pytest
from batches_in_memory import FrameBatches
from numpy.testing import assert_array_equal

from privatree.counting import LEAF, BinnedRecords, Binner, Candidates, Groups, Wanted
from privatree.errors import SchemaError, SourceError
from privatree.schema import TARGET_CODES, Categorical, Numeric, Schema, Target
from privatree.sources import CsvSource
from privatree.sources._source import FrameRecords
from privatree.tables import open_frame, open_labels


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


# --- passes -------------------------------------------------------------------------------------

FEATURES = {"age": Numeric(0, 100), "ward": Categorical(["a", "b", "c"])}
SCHEMA = Schema(FEATURES, target=Target(0, 50))


def some_stays(n, seed=0):
    rng = np.random.default_rng(seed)
    days = rng.exponential(10, n)
    days[rng.random(n) < 0.1] = np.nan
    days[rng.random(n) < 0.05] = np.inf
    frame = pd.DataFrame({"age": rng.uniform(-5, 120, n), "ward": rng.choice([*"abcd"], n)})
    frame["person"] = rng.integers(0, n // 2 + 1, n)
    frame["weight"] = rng.uniform(0, 1, n)
    return frame, pd.Series(days, name="days")


def both_counts(frame, days, folder=None, **names):
    """Counts of the same records in memory and by passes, over a file if there is a folder."""
    if folder is None:
        sources = [FrameBatches(frame, days, 37, in_memory=kept) for kept in (True, False)]
    else:
        frame.assign(days=days).to_csv(folder / "stays.csv", index=False)
        sources = [
            CsvSource(folder / "stays.csv", "days", in_memory=kept, **names)
            for kept in (True, False)
        ]
    for source in sources:
        source.open(SCHEMA)
    candidates = Candidates.from_schema(SCHEMA, 16)
    binner = Binner(SCHEMA, candidates.cuts, candidates.groups, candidates.n_codes)
    return sources[1], *(source.counts(binner)[0] for source in sources)


@pytest.mark.parametrize("names", [{}, {"unit": "person"}, {"weight": "weight"}])
@pytest.mark.parametrize("n_records", [0, 200])
def test_passes_give_the_same_sums_as_records_in_memory(tmp_path, n_records, names):
    frame, days = some_stays(n_records)
    source, *both = both_counts(frame, days, tmp_path if names else None, **names)
    more = int("unit" in names)
    assert source.n_passes == 1 + more
    merged = (np.arange(TARGET_CODES) // 2**14).astype(np.uint8)
    table = np.random.default_rng(0).integers(0, 1024, (TARGET_CODES, 5))
    found = []
    for records in both:
        totals = [records.class_totals()]
        records.merge_classes(merged, 4)
        totals += [records.class_totals(), records.class_counts()]
        children = np.full((1, 16), 0, dtype=np.int32)
        children[0, 5:9], children[0, 9:] = LEAF, 1
        records.descend(np.array([0], np.int32), children)
        totals += [records.class_totals(), records.class_counts()]
        children = np.full((2, 16), -1, dtype=np.int32)
        children[0], children[1, :3] = LEAF - 1, [0, LEAF - 2, LEAF - 2]
        records.descend(np.array([0, 1], np.int32), children)
        totals.append(records.class_totals())
        records.descend(np.array([0], np.int32), np.full((1, 16), LEAF - 3, np.int32))
        totals.append(records.target_sums(table))
        found.append(totals)
    for one, other in zip(*found, strict=True):
        assert_array_equal(one, other)
    full_weight = both[0].full_weight
    assert found[0][0].shape == (1, TARGET_CODES)
    assert found[0][-1].shape == (4, 5)
    if not names:
        assert found[0][0].sum() == days.notna().sum()
        assert full_weight == 1
    else:
        assert (full_weight > 1 and found[0][0].sum() > 10 * full_weight) or not n_records
    assert source.n_passes == 4 + more  # target codes, two levels, leaves


def test_leaves_below_a_subtree_that_was_counted_with_its_parent_need_one_pass():
    frame, days = some_stays(300)
    source, *both = both_counts(frame, days)
    merged = (np.arange(TARGET_CODES) // 2**14).astype(np.uint8)
    table = np.arange(TARGET_CODES, dtype=np.int64)[:, np.newaxis]
    sums = []
    for records in both:
        records.merge_classes(merged, 4)
        every_code = np.concatenate([np.arange(16), np.full(3, 16)]).astype(np.int32)
        firsts = np.array([0, 16, 16])
        records.prepare_counts({0: Wanted(Groups(every_code, firsts))})
        children = np.array([[0] * 8 + [1] * 8], np.int32)
        records.descend(np.array([0], np.int32), children)
        records.class_counts()
        children = np.full((2, 16), -1, dtype=np.int32)
        children[0, :3], children[1] = [LEAF, LEAF - 1, LEAF - 1], LEAF - 2
        records.descend(np.array([1, 0], np.int32), children)
        sums.append(records.target_sums(table))
    assert_array_equal(*sums)
    assert source.n_passes == 3


def test_a_single_leaf_needs_two_passes():
    frame, days = some_stays(100)
    source, *both = both_counts(frame, days)
    sums = []
    for records in both:
        records.merge_classes(np.zeros(TARGET_CODES, np.uint8), 2)
        records.descend(np.array([0], np.int32), np.full((1, 16), LEAF, np.int32))
        sums.append(records.target_sums(np.ones((TARGET_CODES, 1), np.int64)))
    assert_array_equal(*sums)
    assert sums[0][0, 0] == days.notna().sum()
    assert source.n_passes == 2


def test_targets_that_change_between_passes_are_noticed():
    frame, days = some_stays(100)
    _, _, records = both_counts(frame, days)
    records.merge_classes((np.arange(TARGET_CODES) // 2**14).astype(np.uint8), 4)
    records.class_counts()
    records.descend(np.array([0], np.int32), np.full((1, 16), LEAF, np.int32))
    days[:] = 49.0
    with pytest.raises(SourceError, match="the same in every pass"):
        records.target_sums(np.ones((TARGET_CODES, 1), np.int64))


def test_a_frame_in_memory_gives_the_same_counts():
    frame, days = some_stays(100)
    candidates = Candidates.from_schema(SCHEMA, 16)
    binner = Binner(SCHEMA, candidates.cuts, candidates.groups, candidates.n_codes)
    records, n_rows = FrameRecords(open_frame(frame), open_labels(days), SCHEMA).counts(binner)
    assert n_rows == 100
    expected = both_counts(frame, days)[1]
    assert_array_equal(records.class_totals(), expected.class_totals())


@pytest.mark.parametrize("kind", ["str", "datetime64[ns]"])
def test_a_target_of_another_type_is_refused(kind):
    frame, days = some_stays(10)
    with pytest.raises(SchemaError, match="the schema declares a numeric target"):
        FrameRecords(open_frame(frame), open_labels(days.fillna(0).clip(0, 9).astype(kind)), SCHEMA)
