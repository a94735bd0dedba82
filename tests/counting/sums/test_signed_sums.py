"""Signed sums in memory and from passes: the same whole numbers, which are those of plain loops."""

from itertools import pairwise

import numpy as np
import pytest

from privatree.counting import BinnedRecords, Candidates, Groups
from privatree.counting.sums import (
    FINE_STEPS,
    CodeBranch,
    CodeSplit,
    CodeStep,
    ResidualRule,
    RoundTables,
    WeightRule,
    evaluate_rounds,
)
from privatree.counting.sums._pass_sums import PassSums
from privatree.counting.sums._signed_sums import MemorySums
from privatree.errors import SourceError
from privatree.learners.boosting._measure import root_measure
from privatree.schema import TARGET_CODES, Categorical, Numeric, Schema

SCHEMA = Schema(
    {
        "a": Numeric(0, 9, integer=True),
        "b": Categorical(["x", "y", "z"]),
        "c": Numeric(0, 1, integer=True),
    },
    [0, 1],
)
CANDIDATES = Candidates.from_schema(SCHEMA, 256)
N = 500


def random_function(rng, depth):
    if depth == 1 or rng.random() < 0.3:
        feature = int(rng.integers(3))
        signs = rng.choice([-1, 1], CANDIDATES.n_codes[feature]).astype(np.int8)
        return CodeStep(feature, signs)
    feature = int(rng.integers(3))
    split = CodeSplit(feature, rng.random(CANDIDATES.n_codes[feature]) < 0.5)
    return CodeBranch(split, random_function(rng, depth - 1), random_function(rng, depth - 1))


def value(function, codes):
    if isinstance(function, CodeStep):
        return int(function.signs[codes[function.feature]])
    side = function.left if function.split.goes_left[codes[function.split.feature]] else None
    return value(function.right if side is None else side, codes)


def records(seed=0, weighted=False):
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, n, N) for n in CANDIDATES.n_codes], axis=1).astype(np.uint8)
    labels = rng.integers(0, 2, N).astype(np.uint8)
    weights = rng.integers(0, 17, N).astype(np.int32) if weighted else None
    return codes, labels, weights


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_rounds_are_evaluated_as_their_functions(depth):
    rng = np.random.default_rng(depth)
    codes, _, _ = records()
    functions = [random_function(rng, depth) for _ in range(12)]
    tables = RoundTables.stack(
        [RoundTables.of_function(function, depth, [1, -1]) for function in functions]
    )
    assert tables.n_rounds == 12
    found = evaluate_rounds(np.ascontiguousarray(codes.T), tables)
    expected = [sum(value(function, row) for function in functions) for row in codes]
    assert found[:, 0].tolist() == expected
    assert found[:, 1].tolist() == [-score for score in expected]


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_are_those_of_plain_loops(weighted):
    rng = np.random.default_rng(9)
    codes, labels, weights = records(1, weighted)
    full = 16 if weighted else 1
    given = BinnedRecords(codes, CANDIDATES.n_codes, labels, 2, weights=weights, full_weight=full)
    sums = given.open_sums(1)
    function = random_function(rng, 3)
    sums.add_round(RoundTables.of_function(function, 3, [1]))
    rule = WeightRule.of_round(0.7, 3, (-1, 1), 4)
    roots = root_measure(CANDIDATES, [0, 1])
    top = CodeSplit(2, np.array([True, False]))
    whole, left = sums.round_sums(rule, roots.rows, [top])
    offsets, firsts = CANDIDATES.offsets, roots.rows.firsts
    for found, keep in ((whole, codes[:, 2] >= 0), (left, codes[:, 2] == 0)):
        by_code = np.zeros(int(offsets[-1]), np.int64)
        by_row = np.zeros((roots.rows.n_rows, int(offsets[-1])), np.int64)
        for place in np.flatnonzero(keep):
            sign = 1 if labels[place] else -1
            weight = sign * int(rule.table[3 + sign * value(function, codes[place])])
            weight *= int(weights[place]) if weighted else 1
            here = offsets[:-1] + codes[place]
            by_code[here] += weight
            for feature in (0, 1):
                by_row[firsts[feature] + roots.rows.row_of_code[here[feature]], here] += weight
        assert np.array_equal(found.exact_sums, by_code)
        assert np.array_equal(found.exact_rows, by_row)
    largest = N * full * 255
    assert sums.exact_largest_sum == largest >= np.abs(whole.exact_rows).sum(axis=1).max() / 3


def no_rows():
    return Groups(np.zeros(int(CANDIDATES.offsets[-1]), np.int32), np.zeros(4, np.int64))


def test_without_rows_there_are_sums_by_code_only():
    codes, labels, _ = records(2)
    sums = BinnedRecords(codes, CANDIDATES.n_codes, labels, 2).open_sums(1)
    (found,) = sums.round_sums(WeightRule.of_round(1.0, 1, (-1, 1), 4), no_rows(), [])
    assert found.exact_rows.shape[0] == 0
    signs = np.where(labels == 1, 255, -255)
    assert found.exact_sums[:10].tolist() == np.bincount(codes[:, 0], signs, 10).tolist()


class Batches:
    """A source of batches whose codes are given."""

    def __init__(self, codes, labels, weights, n_rows=N, n_classes=2):
        self.arrays, self.n_rows, self.n_classes = (codes, labels, weights), n_rows, n_classes
        self.n_codes = CANDIDATES.n_codes

    def bin_and_weigh(self, batch, weigher):
        first, last = batch.place
        return tuple(None if array is None else array[first:last] for array in self.arrays)

    def answer(self, query):
        partial = query.new_partial()
        edges = np.linspace(0, self.n_rows, 6).astype(int)
        for first, last in pairwise(edges):
            partial.add_batch(type("Batch", (), {"place": (first, last), "n_rows": last - first}))
        return partial


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("factors", [None, (1024, 300)])
def test_passes_find_the_sums_of_memory(weighted, factors):
    codes, labels, weights = records(3, weighted)
    full = 16 if weighted else 1
    source = Batches(codes, labels, weights)
    in_memory = BinnedRecords(
        codes, CANDIDATES.n_codes, labels, 2, weights=weights, full_weight=full
    )
    if factors:
        in_memory.weigh_classes(factors, 1024)
    memory = in_memory.open_sums(1)
    totals = in_memory.class_totals()[0]
    given = (source, None, factors, in_memory.full_weight, N, totals, 1, "changed")
    passes = PassSums(source.answer, *given)
    rng = np.random.default_rng(4)
    roots = root_measure(CANDIDATES, [0, 1, 2])
    tops = [CodeSplit(1, np.array([True, False, True]))]
    for turn in range(4):
        rule = WeightRule.of_round(0.6, 4, (-1, 1), 3 + turn % 2)
        one, other = (sums.round_sums(rule, roots.rows, tops) for sums in (memory, passes))
        for found, expected in zip(other, one, strict=True):
            assert np.array_equal(found.exact_sums, expected.exact_sums)
            assert np.array_equal(found.exact_rows, expected.exact_rows)
        tables = RoundTables.of_function(random_function(rng, 3), 3, [1])
        memory.add_round(tables)
        passes.add_round(tables)
    assert memory.exact_largest_sum == passes.exact_largest_sum
    source.n_rows = N - 1
    with pytest.raises(SourceError, match="changed"):
        passes.round_sums(rule, roots.rows, tops)
    source.n_rows = N
    passes.round_sums(rule, roots.rows, tops)
    labels[0] = 1 - labels[0]
    with pytest.raises(SourceError, match="changed"):
        passes.round_sums(rule, roots.rows, tops)


def test_threads_and_large_sums_change_nothing(monkeypatch):
    codes, labels, _ = records(5)
    weights = np.full(N, 2**24, dtype=np.int32)  # sums that need 64 bits
    rows = root_measure(CANDIDATES, [0]).rows
    rule = WeightRule.of_round(1.0, 1, (-1, 1), 4)
    monkeypatch.setattr("privatree.counting.sums._signed_sums._FEW_RECORDS", 10)
    found = []
    for threads in (1, 2, 5):
        arguments = (np.ascontiguousarray(codes.T), CANDIDATES.offsets, labels)
        sums = MemorySums(*arguments, weights, 2**24, 1, threads)
        found.append(sums.round_sums(rule, rows, [])[0])
    single = MemorySums(*arguments, None, 1, 1, 1).round_sums(rule, rows, [])[0]
    for one in found:
        assert np.array_equal(one.exact_rows, 2**24 * single.exact_rows)
        assert np.array_equal(one.exact_sums, 2**24 * single.exact_sums)
    assert np.abs(found[0].exact_sums).max() > 2**31


@pytest.mark.parametrize("weighted", [False, True])
def test_residuals_of_a_numeric_target_in_memory_and_by_passes(weighted):
    codes, _, weights = records(6, weighted)
    rng = np.random.default_rng(7)
    targets = rng.integers(0, TARGET_CODES, N).astype(np.uint16)
    full = 16 if weighted else 1
    in_memory = BinnedRecords(
        codes, CANDIDATES.n_codes, targets, TARGET_CODES, weights=weights, full_weight=full
    )
    totals = in_memory.class_totals()[0]
    in_memory.merge_classes(np.zeros(TARGET_CODES, np.uint8), 1)
    memory = in_memory.open_sums(1)
    source = Batches(codes, targets, weights, n_classes=TARGET_CODES)
    passes = PassSums(source.answer, source, None, None, full, N, totals, 1, "changed")
    start, expected = 30_000 * FINE_STEPS, np.full(N, 30_000 * FINE_STEPS)
    roots = root_measure(CANDIDATES, [0, 1])
    ends = np.array([2**10, 2**16, 2**20, 2**23])
    for amount in (2**20, 70_001, 1):
        function = random_function(rng, 2)
        tables = RoundTables.of_function(function, 2, [amount])
        expected += [amount * value(function, row) for row in codes]
        residuals = targets.astype(np.int64) * FINE_STEPS + FINE_STEPS // 2 - expected
        places = np.minimum(np.searchsorted(ends, np.abs(residuals)), len(ends) - 1)
        counts = np.bincount(places, weights, len(ends)).astype(int)
        signed = np.rint(255 * np.clip(residuals / 2**21, -1, 1)).astype(int)
        signed = signed * (1 if weights is None else weights)
        for sums in (memory, passes):
            sums.add_round(tables)
            assert sums.residual_counts(start, ends).tolist() == counts.tolist()
            (found,) = sums.round_sums(ResidualRule(start, 2**21), roots.rows, [])
            assert found.exact_sums[:10].tolist() == np.bincount(codes[:, 0], signed, 10).tolist()
    targets[0] += 1
    with pytest.raises(SourceError, match="changed"):
        passes.residual_counts(start, ends)
