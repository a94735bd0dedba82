"""The task that trains an ensemble once, and certifies it at every share of poisoned records."""

from itertools import pairwise

import pytest

from privatree.reproduction.running._certified_split import (
    CERTIFIED_SHARES,
    CertifiedSplit,
    certified_accuracy_column,
)
from privatree.reproduction.running._task import Score
from privatree.reproduction.running._tasks import RandomSplit


@pytest.fixture(scope="module")
def task() -> CertifiedSplit:
    return CertifiedSplit("breast-w", "dpa", None, 4, 3)


@pytest.fixture(scope="module")
def score(task: CertifiedSplit) -> Score:
    task.prepare()
    return task.run()


def test_the_split_is_that_of_other_methods(task: CertifiedSplit, score: Score) -> None:
    plain = RandomSplit("breast-w", "dpa", None, 4, 3)
    assert task.key == plain.key
    assert score.accuracy == plain.run().accuracy
    assert score.fit_seconds > 0


def test_a_measure_for_every_share() -> None:
    assert (CERTIFIED_SHARES[0], float(CERTIFIED_SHARES[-1])) == (0, 0.01)
    assert CertifiedSplit.measures == tuple(map(certified_accuracy_column, CERTIFIED_SHARES))
    assert CertifiedSplit.measures[:3] == ("certified_0", "certified_0.0005", "certified_0.001")


def test_certified_accuracy_begins_at_the_accuracy_and_falls(score: Score) -> None:
    assert len(score.more) == len(CertifiedSplit.measures)
    assert score.more[0] == score.accuracy > 0.6
    assert all(later <= before for before, later in pairwise(score.more))
    assert score.more[-1] > 0  # five records
