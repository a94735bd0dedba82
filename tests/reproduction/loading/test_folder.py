import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privatree.errors import ParameterError
from privatree.reproduction.loading import _folder as folder
from privatree.schema import Categorical, Numeric


@pytest.fixture
def table():
    return pd.DataFrame(
        {
            "age": [30, 40, 50, 60],
            "code": [7, 8, 7, 10],
            "work": pd.Categorical(["s", "p", "p", "s"], categories=["s", "q", "p"]),
            "target": pd.Series([0, 1, 0, 1], dtype="int8"),
        }
    )


@pytest.fixture
def put(tmp_path, table):
    """Write the table, and a note if there is one, and load it."""

    def write_and_load(dataset, frame=None, note=None):
        (table if frame is None else frame).to_parquet(tmp_path / "tiny.parquet")
        if note is not None:
            (tmp_path / "tiny.json").write_text(note)
        return folder.load_from_folder(dataset, tmp_path)

    return write_and_load


def test_a_file_is_read_with_types_and_declared_categories(tiny, put):
    records = put(tiny)
    assert records.origin == "data folder"
    assert dict(records.schema.features) == {
        "age": Numeric(30, 60, integer=True),
        "code": Numeric(7, 10, integer=True),
        "work": Categorical(["s", "q", "p"]),
    }
    assert records.labels.tolist() == ["0", "1", "0", "1"]
    assert records.frame["work"].tolist() == ["s", "p", "p", "s"]


def test_the_label_may_be_any_column(tiny, put, table):
    assert put(tiny, table[["target", "work", "age"]]).schema.names == ("work", "age")


@pytest.mark.parametrize("row_group_size", [1, 100])
def test_dictionaries_that_arrow_wrote_are_categories(tiny, table, tmp_path, row_group_size):
    written = pa.Table.from_pandas(table).replace_schema_metadata(None)
    pq.write_table(written, tmp_path / "tiny.parquet", row_group_size=row_group_size)
    found = folder.load_from_folder(tiny, tmp_path)
    assert found.schema.features["work"] == Categorical(["s", "q", "p"])


def test_a_note_lists_further_categories(tiny, put):
    records = put(tiny, note=json.dumps({"categorical": ["code"], "source": "somewhere"}))
    assert records.schema.features["code"] == Categorical(["7", "8", "10"])
    assert records.schema.features["work"] == Categorical(["s", "q", "p"])
    assert records.frame["code"].tolist() == ["7", "8", "7", "10"]


def test_a_note_may_list_nothing(tiny, put):
    assert put(tiny, note="{}").fingerprint == put(tiny).fingerprint


def test_a_folder_without_the_file_has_none(tiny, tmp_path):
    assert folder.load_from_folder(tiny, tmp_path) is None


def test_another_shape_than_the_papers_is_allowed_here(tiny, put):
    assert len(put(tiny).frame) != tiny.n_records


def test_the_fingerprint_is_that_of_the_content(tiny, put, table, tmp_path):
    first = put(tiny).fingerprint
    (tmp_path / "elsewhere").mkdir()
    table.astype({"age": "float64"}).to_parquet(
        tmp_path / "elsewhere" / "tiny.parquet", compression="gzip", row_group_size=2
    )
    assert folder.load_from_folder(tiny, tmp_path / "elsewhere").fingerprint == first


def refused(tiny, tmp_path, *parts):
    with pytest.raises(ParameterError) as error:
        folder.load_from_folder(tiny, tmp_path)
    message = str(error.value)
    assert "\n" not in message
    assert all(part in message for part in parts), message


@pytest.mark.parametrize("content", [b"", b"age,target\n1,2\n", b"PAR1 but no more PAR1"])
def test_what_is_no_parquet_file_is_refused(tiny, tmp_path, content):
    path = tmp_path / "tiny.parquet"
    path.write_bytes(content)
    refused(tiny, tmp_path, str(path), "must be a readable Parquet file")


def test_a_file_cut_short_is_refused(tiny, put, tmp_path):
    put(tiny)
    path = tmp_path / "tiny.parquet"
    path.write_bytes(path.read_bytes()[:-20])
    refused(tiny, tmp_path, str(path), "must be a readable Parquet file")


def with_text_that_is_none(table):
    """Bytes that no text has, where the schema says text: found only when they are looked at."""
    plain = pa.Table.from_pandas(table.astype({"work": "str"}), preserve_index=False)
    as_bytes = pa.array([b"s", b"\xff\xfe", b"p", b"s"], pa.binary())
    lying = pa.Array.from_buffers(pa.string(), 4, as_bytes.buffers())
    return plain.set_column(plain.column_names.index("work"), "work", lying)


def with_wrong_notes(table):
    """Metadata for pandas that pandas stumbles over."""
    plain = pa.Table.from_pandas(table)
    notes = plain.schema.metadata[b"pandas"].replace(b'"numpy_type"', b'"numpx_type"')
    return plain.replace_schema_metadata({b"pandas": notes})


@pytest.mark.parametrize("damage", [with_text_that_is_none, with_wrong_notes])
def test_what_only_pandas_or_a_later_look_would_stumble_over_is_refused(
    tiny, table, tmp_path, damage
):
    path = tmp_path / "tiny.parquet"
    pq.write_table(damage(table), path)
    refused(tiny, tmp_path, str(path), "must be a readable Parquet file")


def test_two_columns_of_labels_are_refused(tiny, tmp_path):
    path = tmp_path / "tiny.parquet"
    columns = [pa.array([1, 2]), pa.array(["a", "b"]), pa.array(["a", "b"])]
    pq.write_table(pa.Table.from_arrays(columns, ["x", "target", "target"]), path)
    refused(tiny, tmp_path, str(path), "must have one column 'target'")


def test_two_columns_of_one_name_are_refused(tiny, tmp_path):
    path = tmp_path / "tiny.parquet"
    columns = [pa.array([1, 2]), pa.array([3, 4]), pa.array(["a", "b"])]
    pq.write_table(pa.Table.from_arrays(columns, ["x", "x", "target"]), path)
    refused(tiny, tmp_path, str(path), "column names must differ as text, got 'x'")


def test_a_file_without_target_is_refused(tiny, table, tmp_path):
    path = tmp_path / "tiny.parquet"
    table.rename(columns={"target": "label"}).to_parquet(path)
    refused(tiny, tmp_path, str(path), "'target'")


def test_missing_labels_are_refused(tiny, table, tmp_path):
    path = tmp_path / "tiny.parquet"
    table.assign(target=[0.0, 1.0, None, 1.0]).to_parquet(path)
    refused(tiny, tmp_path, str(path), "every row must have a label")


@pytest.mark.parametrize(
    ("note", "part"),
    [
        ("{", "must be a readable JSON file"),
        ("[]", "'categorical' is a list"),
        ('{"categorical": "code"}', "'categorical' is a list"),
        ('{"categorical": [1]}', "'categorical' is a list"),
        ('{"categorical": ["cod"]}', "got 'cod'"),
        ('{"categorical": ["target"]}', "got 'target'"),
    ],
)
def test_a_note_that_is_wrong_is_refused(tiny, table, tmp_path, note, part):
    table.to_parquet(tmp_path / "tiny.parquet")
    (tmp_path / "tiny.json").write_text(note)
    refused(tiny, tmp_path, str(tmp_path / "tiny.json"), part)
