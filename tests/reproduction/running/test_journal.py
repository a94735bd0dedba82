"""Results are whole on disk whatever happens, and in an order of their own."""

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privatree.errors import ParameterError
from privatree.reproduction.running._journal import Journal
from privatree.reproduction.running._task import Score
from privatree.reproduction.running._tasks import CrossValidated

FIELDS = CrossValidated.fields


def task(fold: int, method: str = "privatree", epsilon: float | None = 0.1) -> CrossValidated:
    return CrossValidated("vote", method, epsilon, 4, 0, fold)


def test_a_row_is_on_disk_as_soon_as_it_is_written(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "deep" / "cells.csv", FIELDS)
    journal.record_score(task(0), Score(0.5, 0.01))
    assert journal.path.read_text() == (
        "dataset,method,epsilon,depth,repeat,fold,accuracy,fit_seconds,note\n"
        "vote,privatree,0.1,4,0,0,0.500000,0.0100,\n"
    )
    assert task(0) in Journal(journal.path, FIELDS)
    assert task(1) not in Journal(journal.path, FIELDS)


def test_more_measures_stand_between_the_accuracy_and_the_seconds(tmp_path: Path) -> None:
    path = tmp_path / "cells.csv"
    journal = Journal(path, FIELDS, ("asr", "loss"))
    journal.record_score(task(0), Score(0.5, 0.01, (0.25, 1 / 3)))
    journal.record_failure(task(1), "timeout")
    assert path.read_text() == (
        "dataset,method,epsilon,depth,repeat,fold,accuracy,asr,loss,fit_seconds,note\n"
        "vote,privatree,0.1,4,0,0,0.500000,0.250000,0.333333,0.0100,\n"
        "vote,privatree,0.1,4,0,1,,,,,timeout\n"
    )
    again = Journal(path, FIELDS, ("asr", "loss"))
    table = again.frame([task(0), task(1)])
    assert table["asr"].tolist()[0] == 0.25
    assert math.isnan(table["loss"][1])
    assert table["note"].tolist() == ["", "timeout"]
    again.forget_failures([task(0), task(1)])
    assert task(0) in Journal(path, FIELDS, ("asr", "loss"))
    assert task(1) not in Journal(path, FIELDS, ("asr", "loss"))
    with pytest.raises(ParameterError, match=r"columns dataset, .* accuracy, fit_seconds"):
        Journal(path, FIELDS)


ADDED = ("auc", "log_loss")


def test_added_measures_are_the_last_columns(tmp_path: Path) -> None:
    path = tmp_path / "cells.csv"
    journal = Journal(path, FIELDS, (), ADDED)
    journal.record_score(task(0), Score(0.5, 0.01, added=(0.75, math.nan)))
    journal.record_score(task(1), Score(0.5, 0.01))
    journal.record_failure(task(2), "timeout")
    assert path.read_text() == (
        "dataset,method,epsilon,depth,repeat,fold,accuracy,fit_seconds,note,auc,log_loss\n"
        "vote,privatree,0.1,4,0,0,0.500000,0.0100,,0.750000,\n"
        "vote,privatree,0.1,4,0,1,0.500000,0.0100,,,\n"
        "vote,privatree,0.1,4,0,2,,,timeout,,\n"
    )
    table = Journal(path, FIELDS, (), ADDED).frame([task(0), task(1)])
    assert table["auc"].tolist()[0] == 0.75
    assert table[list(ADDED)].isna().sum().sum() == 3
    with pytest.raises(ParameterError, match="2 added numbers or none, got 1"):
        journal.record_score(task(3), Score(0.5, 0.01, added=(0.5,)))


def test_a_file_without_added_measures_is_read_and_gets_them(tmp_path: Path) -> None:
    path = tmp_path / "cells.csv"
    old = Journal(path, FIELDS)
    old.record_score(task(0), Score(0.5, 0.01))
    journal = Journal(path, FIELDS, (), ADDED)
    assert task(0) in journal
    journal.record_score(task(1), Score(0.25, 0.01, added=(0.75, 0.5)))
    assert path.read_text() == (
        "dataset,method,epsilon,depth,repeat,fold,accuracy,fit_seconds,note,auc,log_loss\n"
        "vote,privatree,0.1,4,0,0,0.500000,0.0100,,,\n"
        "vote,privatree,0.1,4,0,1,0.250000,0.0100,,0.750000,0.500000\n"
    )
    with pytest.raises(ParameterError, match="must be a results file"):
        Journal(path, FIELDS)  # not the other way round: a column would be lost


@pytest.mark.parametrize("more", [(), (0.5, 0.5)])
def test_a_score_must_have_every_measure(tmp_path: Path, more: tuple[float, ...]) -> None:
    journal = Journal(tmp_path / "cells.csv", FIELDS, ("asr",))
    with pytest.raises(ParameterError, match="must have 1 numbers besides the accuracy"):
        journal.record_score(task(0), Score(0.5, 0.01, more))
    assert task(0) not in Journal(journal.path, FIELDS, ("asr",))


def test_every_cut_of_the_file_loses_the_last_row_at_most(tmp_path: Path) -> None:
    path = tmp_path / "cells.csv"
    journal = Journal(path, FIELDS)
    for fold in range(3):
        journal.record_score(task(fold), Score(0.25 * fold, 1.0))
    whole = path.read_bytes()
    rows_begin = whole.index(b"\n") + 1
    for length in range(rows_begin, len(whole) + 1):
        path.write_bytes(whole[:length])
        again = Journal(path, FIELDS)
        complete = whole[rows_begin:length].count(b"\n")
        assert [task(fold) in again for fold in range(3)] == [f < complete for f in range(3)]
        for fold in range(complete, 3):
            again.record_score(task(fold), Score(0.25 * fold, 1.0))
        assert path.read_bytes() == whole


@given(st.permutations(range(5)))
def test_the_sorted_file_does_not_depend_on_who_came_first(order: list[int]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(Path(folder, "cells.csv"), FIELDS)
        for fold in order:
            journal.record_score(task(fold), Score(fold / 5, 0.5))
        journal.sort([task(fold) for fold in (3, 1)])
        rows = journal.path.read_text().splitlines()[1:]
    assert [row.split(",")[5] for row in rows] == ["3", "1", "0", "2", "4"]


def test_marked_rows_are_finished_until_they_are_to_be_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "cells.csv"
    journal = Journal(path, FIELDS)
    journal.record_failure(task(0), 'failed: ValueError: a "quoted", long\nline')
    journal.record_score(task(1), Score(1.0, 1.0))
    again = Journal(path, FIELDS)
    assert task(0) in again
    table = again.frame([task(0), task(1), task(2)])
    assert table["note"].tolist() == ['failed: ValueError: a "quoted", long line', ""]
    assert math.isnan(table["accuracy"][0])
    again.forget_failures([task(1), task(2)])
    assert task(0) in Journal(path, FIELDS)
    again.forget_failures([task(0), task(1)])
    assert task(0) not in Journal(path, FIELDS)
    assert task(1) in Journal(path, FIELDS)


def test_numbers_come_back_as_numbers(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "cells.csv", FIELDS)
    plain = task(0, method="decision-tree", epsilon=None)
    journal.record_score(plain, Score(2 / 3, 1e-3))
    journal.record_score(task(1), Score(1.0, 2.0))
    table = journal.frame([plain, task(1)])
    assert math.isnan(table["epsilon"][0])
    assert table["epsilon"][1] == 0.1
    assert table["fold"].tolist() == [0, 1]
    assert table["accuracy"].tolist() == [0.666667, 1.0]
    assert not list(tmp_path.glob("*.new"))


def test_an_empty_file_is_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "cells.csv"
    path.touch()
    Journal(path, FIELDS).record_failure(task(0), "failed: \udcff")  # not every text can be written
    assert task(0) in Journal(path, FIELDS)


@pytest.mark.parametrize("content", [b"a,b,c\n1,2,3\n", b"\xff\xfe\n"])
def test_another_file_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "cells.csv"
    path.write_bytes(content)
    with pytest.raises(ParameterError, match="Choose another output folder"):
        Journal(path, FIELDS)
    assert path.read_bytes() == content


def test_fields_must_be_the_same(tmp_path: Path) -> None:
    Journal(tmp_path / "cells.csv", FIELDS)
    other: Any = ("dataset", "epsilon")
    with pytest.raises(ParameterError, match="columns dataset, epsilon, accuracy"):
        Journal(tmp_path / "cells.csv", other)
