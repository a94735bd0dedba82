"""Pairs of files: each differs in one line, ours reads one record more at most, others do not."""

import warnings
from collections import Counter
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from handing_over import differences, handed_over

from privatree import PrivaTreeClassifier
from privatree.audit import Records, audit, file_pairs, known_pairs
from privatree.audit._views import train_for_views
from privatree.audit.pairs._file_readers import (
    FileTable,
    read_memory,
    read_multiline,
    read_pandas,
    read_pyarrow,
    read_stream,
    read_table,
)
from privatree.baselines.methods._method import encode_method_numbers

PAIRS = file_pairs()
EACH = pytest.mark.parametrize("name", PAIRS)
LEARNER = PrivaTreeClassifier(1.0, random_state=0)


def learner(pair):
    return PrivaTreeClassifier(1.0, schema=pair.schema, max_depth=pair.max_depth, random_state=0)


def lines(files):
    """All of them but the first of each file, with the folder that they are in."""
    return Counter(
        (str(Path(path).parent), line)
        for path, content in files.items()
        for line in content.split(b"\n")[1:-1]
    )


def rows(table):
    return Counter(zip(table.X["x"], table.X["kind"], table.y.tolist(), strict=True))


@EACH
def test_the_files_differ_in_one_line(name):
    pair = PAIRS[name]
    first, second = map(lines, pair.files)
    assert (second - first).total() == 1
    assert not first - second
    assert pair.sizes == (first.total(), second.total()) == (200, 201)
    assert not pair.replaced
    assert pair.after


@EACH
def test_our_reader_reads_one_record_more_at_most_and_what_the_pair_says(name):
    pair = PAIRS[name]
    with pair.given() as tables:
        first, second = (rows(table.X.read()) for table in tables)
    assert (first, second) == (rows(pair.first), rows(pair.second))
    assert not first - second
    assert (second - first).total() <= 1
    assert first.total() == 200


@EACH
@pytest.mark.parametrize("read", [read_table, read_memory])
def test_the_learner_is_handed_one_record_more_and_nothing_else_changes(name, read):
    pair = file_pairs(read)[name]
    with pair.given() as tables:
        first, second = (handed_over(learner(pair), *table.X.read()) for table in tables)
    assert "error" not in first.public
    assert first.records.total() == 200
    assert not differences(first, second, "add-remove")


@EACH
def test_files_in_passes_give_the_same_tree_as_in_memory(name):
    trees = {}
    for read in (read_stream, read_memory):
        pair = file_pairs(read)[name]
        with pair.given() as tables:
            trees[read] = [learner(pair).fit(*table.X.read()).model_.to_dict() for table in tables]
    assert trees[read_stream] == trees[read_memory]


@EACH
def test_a_pair_can_be_given_as_numbers(name):
    pair = PAIRS[name].encoded(encode_method_numbers)
    with pair.given() as tables:
        for table, right in zip(tables, (pair.first, pair.second), strict=True):
            read = table.X.read()
            assert read.X.dtype == float
            assert sorted(map(tuple, read.X)) == sorted(map(tuple, right.X))


def test_files_are_there_while_they_are_given_and_not_afterwards():
    with PAIRS["odd-folder"].given() as tables:
        folders = [table.X.folder for table in tables]
        assert [len(list(folder.rglob("*.csv"))) for folder in folders] == [2, 3]
    assert not any(folder.exists() for folder in folders)


# --- what reading says ----------------------------------------------------------------------------


def fails(folder, schema, target):
    raise OSError(f"{folder}/part-0.csv: no")


def test_where_files_are_is_not_what_tells_them_apart():
    with file_pairs(fails)["open-quote"].given() as tables:
        said = {train_for_views(LEARNER, *table).said for table in tables}
    assert said == {("OSError: FOLDER/part-0.csv: no",)}


def test_a_reader_that_fails_at_one_file_is_seen():
    def fails_at_a_nul(folder, schema, target):
        if b"\0" in (folder / "part-0.csv").read_bytes():
            raise ValueError("line contains NUL")
        return read_table(folder, schema, target)

    report = audit(LEARNER, file_pairs(fails_at_a_nul)["odd-bytes"], runs=60)
    assert report.refuted
    assert report.worst.counts in [(30, 0), (0, 30)]


def test_what_a_reader_warns_of_is_said():
    def warns(folder, schema, target):
        warnings.warn(f"{folder} is odd", UserWarning, stacklevel=1)
        return read_table(folder, schema, target)

    with file_pairs(warns)["open-quote"].given() as (first, _):
        model = PrivaTreeClassifier(1.0, schema=PAIRS["open-quote"].schema, random_state=0)
        assert train_for_views(model, *first).said == ("UserWarning: FOLDER is odd",)


# --- readers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("read", "name", "event"),
    [
        (read_multiline, "open-quote", "splits"),
        (read_pandas, "open-quote", "errors"),
        (read_pandas, "quoted-newline", "splits"),
        (read_pandas, "text-in-numbers", "errors"),
        (read_pyarrow, "quoted-newline", "splits"),
        (read_pyarrow, "long-line", "errors"),
    ],
)
def test_readers_in_which_a_line_changes_others_are_refuted(read, name, event):
    report = audit(LEARNER, file_pairs(read)[name], runs=60)
    assert report.claimed == 1.0
    assert report.refuted
    assert event in report.event


def test_who_declares_the_escape_is_seen_by_the_other_pair_only(monkeypatch):
    """A reader that knows how Spark writes quotes still lets one open at the end of a line."""

    monkeypatch.setattr(pd, "read_csv", partial(pd.read_csv, escapechar="\\"))
    pairs = file_pairs(read_pandas)
    assert not audit(LEARNER, pairs["open-quote"], runs=60).refuted
    assert audit(LEARNER, pairs["quoted-newline"], runs=60).refuted


def test_the_known_pairs_have_those_of_files_and_take_a_reader():
    pairs = known_pairs(read=read_stream)
    assert PAIRS.keys() < pairs.keys()
    assert all(pairs[name].read is read_stream for name in PAIRS)
    with pairs["open-quote"].given() as (first, _):
        assert isinstance(first, Records)
        assert isinstance(first.X, FileTable)
