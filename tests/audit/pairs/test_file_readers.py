"""Readers that an audit can be asked for."""

import pandas as pd
import pytest

from privatree.audit.pairs._file_readers import READERS, SOURCE_READERS, FileTable, chosen_reader
from privatree.errors import ParameterError
from privatree.schema import Categorical, Numeric, Schema
from privatree.sources import CsvSource

SCHEMA = Schema(
    {"x": Numeric(0, 9, missing=3), "kind": Categorical(["a", "b"], missing="b")}, [0, 1]
)
LINES = "x,y,kind,note\n1,0,a,fine\n,1,c,fine\n5,,a,no label\n"


@pytest.mark.parametrize("name", sorted(READERS.keys() - {*SOURCE_READERS}))
def test_a_table_has_every_row_with_a_label_and_nothing_missing(tmp_path, name):
    (tmp_path / "a.csv").write_text(LINES)
    X, y = chosen_reader(name)(tmp_path, SCHEMA, "y")
    kinds = pd.Categorical(["a", "b"], ["a", "b"])
    pd.testing.assert_frame_equal(X, pd.DataFrame({"x": [1.0, 3.0], "kind": kinds}))
    assert y.tolist() == [0, 1]


@pytest.mark.parametrize("name", SOURCE_READERS)
def test_a_source_is_left_to_the_learner(tmp_path, name):
    (tmp_path / "a.csv").write_text(LINES)
    source, labels = chosen_reader(name)(tmp_path, SCHEMA, "y")
    assert isinstance(source, CsvSource)
    assert (source.in_memory, labels) == (name == "memory", None)


def test_an_unknown_reader():
    with pytest.raises(ParameterError, match=r"got 'tabel'\. Did you mean 'table'\?"):
        chosen_reader("tabel")  # codespell:ignore tabel


def test_rows_are_encoded_for_learners_that_take_no_frames(tmp_path):
    (tmp_path / "a.csv").write_text(LINES)
    table = FileTable(tmp_path, SCHEMA, "y", READERS["table"], lambda X, schema: X["x"].tolist())
    assert table.read().X == [1.0, 3.0]
    assert table.redact_folder(f"{tmp_path}/a.csv: no") == "FOLDER/a.csv: no"
