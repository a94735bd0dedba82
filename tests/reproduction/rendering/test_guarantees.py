"""From mean accuracies to guarantees: how many edits, by which bound, and how much is left."""

import math
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

from privatree.baselines import methods
from privatree.privacy import Schedule
from privatree.reproduction import datasets
from privatree.reproduction.rendering._guarantees import (
    ACCURACY,
    BEST,
    COLUMNS,
    PAPER,
    compute_guarantees,
    guarantee_spending,
)
from privatree.reproduction.rendering._summaries import frame_rows
from privatree.reproduction.running._study import Available
from privatree.reproduction.running._tasks import task_edits
from privatree.robustness import EpsilonDP, best

SCHEMA = datasets.load("vote").schema
ADULT = Available("adult", SCHEMA, "", "", 45_222, 0.75)
SHARES = (Fraction(0), Fraction(1, 1000), Fraction(1, 100))
IDS = ("decision-tree", "privatree-paper", "privatree", "privatree-robust", "random-tree")


@pytest.mark.parametrize(
    ("n_records", "edits"),
    [
        (45_222, (36, 180, 361)),  # adult
        (13_376, (10, 53, 107)),  # MagicTelescope
        (232, (0, 0, 1)),
        (683, (0, 2, 5)),
        (1250, (1, 5, 10)),  # whole numbers, where floats may fall below
        (8750, (7, 35, 70)),
    ],
)
def test_a_share_of_the_training_records_is_rounded_down(
    n_records: int, edits: tuple[int, ...]
) -> None:
    shares = (Fraction(1, 1000), Fraction(5, 1000), Fraction(1, 100))
    assert tuple(task_edits(n_records, share) for share in shares) == edits


def test_only_our_learner_has_a_schedule() -> None:
    for name in ("privatree-paper", "bdpt", "dpgdf", "random-tree"):
        assert guarantee_spending(methods.get(name), SCHEMA, 0.25, 4) == EpsilonDP(0.25)
    ours = guarantee_spending(methods.get("privatree"), SCHEMA, 0.25, 4)
    robust = guarantee_spending(methods.get("privatree-robust"), SCHEMA, 0.25, 4)
    assert isinstance(ours, Schedule)
    assert isinstance(robust, Schedule)
    assert ours.total <= Fraction(1, 4)
    assert [len(sequence) for sequence in robust.sequences] == [5]
    assert len(ours.sequences) > 1


def test_the_schedule_does_not_depend_on_records() -> None:
    frame, labels, schema, *_ = datasets.load("vote")
    model = (
        methods.get("privatree").classifier(methods.Training(schema, 0.1, 4, 3)).fit(frame, labels)
    )
    assert guarantee_spending(methods.get("privatree"), schema, 0.1, 4) == model.privacy_.schedule


def figures(*rows: tuple[Any, ...]) -> pd.DataFrame:
    columns = ["dataset", "method", "epsilon", "mean", "standard_error", "n", "n_repeats", "note"]
    return compute_guarantees(
        pd.DataFrame(rows, columns=columns),
        methods=[methods.get(name) for name in IDS],
        found=[ADULT],
        shares=SHARES,
        depth=4,
    )


def test_both_bounds_at_every_share() -> None:
    frame = figures(
        ("adult", "privatree-paper", 0.1, 0.82, 0.004, 25, 5, ""),
        ("adult", "privatree", 0.1, 0.82, math.nan, 1, 1, ""),
    )
    assert tuple(frame.columns) == COLUMNS
    paper, ours = (list(frame_rows(frame[frame["method"] == name])) for name in IDS[1:3])
    for rows in (paper, ours):
        assert [(row.figure, row.share, row.edits) for row in rows] == [
            (ACCURACY, 0.0, 0),
            *((PAPER, 0.0, 0), (BEST, 0.0, 0)),
            *((PAPER, 0.001, 36), (BEST, 0.001, 36)),
            *((PAPER, 0.01, 361), (BEST, 0.01, 361)),
        ]
        assert {row.value for row in rows[:3]} == {0.82}
        assert rows[3].value == pytest.approx(0.022405, abs=1e-6)
        assert rows[3].bound == "A"
    assert paper[0].standard_error == 0.004
    assert paper[3].standard_error == pytest.approx(0.004 * math.exp(-3.6))
    assert math.isnan(paper[4].standard_error)
    assert (paper[4].bound, paper[4].value) == ("AB*", pytest.approx(0.037932, abs=1e-6))
    schedule = guarantee_spending(methods.get("privatree"), SCHEMA, 0.1, 4)
    assert (ours[4].value, ours[4].bound) == best(schedule, 0.82, 36)
    assert ours[4].bound == "E"
    assert ours[4].value > 0.11


def test_without_privacy_or_scores_there_is_no_guarantee() -> None:
    frame = figures(
        ("adult", "decision-tree", math.nan, 0.84, 0.001, 25, 5, ""),
        ("adult", "privatree", 0.1, math.nan, math.nan, 0, 0, "failed: no good"),
    )
    assert list(frame["figure"]) == [ACCURACY, ACCURACY]
    assert list(frame["note"]) == ["", "failed: no good"]
