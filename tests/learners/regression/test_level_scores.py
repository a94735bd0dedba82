import numpy as np
import pytest

from privatree.learners.regression._level_scores import LevelScores
from privatree.learners.tree._subtree import differences_to_first


def score(level, label, n_levels):
    return n_levels - 1 - abs(level - label)


@pytest.mark.parametrize("n_levels", [2, 5, 18])
def test_scores_of_classes_are_sums_over_records(n_levels):
    rng = np.random.default_rng(n_levels)
    counts = rng.integers(0, 5, (n_levels + 1, 7))
    counts[0] = 0  # the empty class
    scores = LevelScores(n_levels)
    expected = [
        [
            sum(
                counts[level + 1, code] * score(level, label, n_levels) for level in range(n_levels)
            )
            for code in range(7)
        ]
        for label in range(n_levels)
    ]
    assert scores.of_classes(counts).tolist() == expected
    assert scores.score_range == n_levels - 1


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("n_levels", [2, 5, 18])
def test_tables_have_the_same_scores(n_levels, kind):
    rng = np.random.default_rng(n_levels)
    counts = rng.integers(0, 5, (3, n_levels + 1, 7))
    counts[:, 0] = 0
    scores = LevelScores(n_levels)
    table = scores.of_tables(((counts[:, 1:] - counts[:, :1]).astype(kind), counts.sum(axis=2)))
    assert table.differences.dtype == kind
    for row in range(3):
        exact = scores.of_classes(counts[row])
        assert table.differences[row].tolist() == differences_to_first(exact).tolist()
        assert table.totals[row].tolist() == exact.sum(axis=1).tolist()


def test_scores_that_do_not_fit_in_32_bits_get_64():
    counts = np.zeros((1, 19, 2), dtype=np.int64)
    counts[0, 18] = 2**29
    table = LevelScores(18).of_tables((counts[:, 1:].astype(np.int32), counts.sum(axis=2)))
    assert table.differences.dtype == np.int64
    assert table.differences[0, -1].tolist() == [17 * 2**29] * 2


def test_one_more_record_moves_every_score_within_the_range():
    scores = LevelScores(8)
    for level in range(8):
        record = np.zeros((9, 1), dtype=np.int64)
        record[1 + level] = 1
        changes = scores.of_classes(record)
        assert changes.min() >= 0
        assert changes.max() <= scores.score_range
