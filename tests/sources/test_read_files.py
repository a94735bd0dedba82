"""Files as a table typed by the schema, whatever the records hold."""

import csv
import gzip
import io
import math
import os
import warnings
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privatree.errors import ParameterError, SchemaError
from privatree.schema import Categorical, CsvDialect, Numeric, Schema
from privatree.sources import find_files, open_files, read_files, read_files_without_schema
from privatree.tables import parse_text_numbers, read_features, read_labels
from privatree.tables._text import parse_text_labels

SCHEMA = Schema(
    {
        "size": Numeric(-2, 5, missing=1),
        "colour": Categorical(["red", "grün", ""], missing="grün"),
        "grade": Categorical([3, 0.5, 1], missing=1),
        "member": Categorical([True, False], missing=False),
    },
    ["yes", "no"],
)
MULTILINE = replace(SCHEMA, csv=CsvDialect(multiline=True))
HEADER = "size,colour,grade,member,answer\n"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("csv") / "data.csv"


def read(path, content, schema=SCHEMA, target="answer", *, allow_ragged=True):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_files([path], schema, target, allow_ragged=allow_ragged)


def written(rows, terminator="\r\n", quoting=csv.QUOTE_MINIMAL):
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator=terminator, quoting=quoting).writerows(rows)
    return text.getvalue()


# --- content is never an error ------------------------------------------------------------------


nasty = st.lists(
    st.sampled_from([b",", b'"', b"\n", b"\r", b"\r\n", b"\xff", b"\xc3", b"\x00", b"\xef\xbb\xbf",
                     b"1", b"red", b"1e999", b" ", b"true", b"yes", b"\xed\xa0\x80", b"=",
                     b'1,red,3,true,yes\n', b'"",","\n"""', b"nan", b"'", b"\\"])
    | st.binary(max_size=4),
    max_size=25,
).map(b"".join)  # fmt: skip


@pytest.mark.slow
@given(content=nasty, ending=st.sampled_from(["\n", "\r\n", "\r"]), bom=st.booleans())
def test_no_content_makes_reading_fail_or_warn(path, content, ending, bom):
    header = ("\ufeff" if bom else "") + HEADER.strip() + ending
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        records = read(path, header.encode() + content)
    records.features.validate(full=True)
    assert records.features.column_names == list(SCHEMA.names)
    assert len(records.labels) == records.features.num_rows
    assert read_features(records.features, SCHEMA)[0].size == records.features.num_rows
    assert set(read_labels(records.labels, SCHEMA)) <= {-1, 0, 1}


@pytest.mark.slow
@given(content=nasty)
def test_the_types_of_the_columns_do_not_depend_on_the_content(path, content):
    types = read(path, HEADER).features.schema.types
    assert read(path, HEADER.encode() + content).features.schema.types == types
    assert types[0] == pa.float64()
    assert [kind.value_type for kind in types[1:]] == [pa.string(), pa.float64(), pa.bool_()]


@pytest.mark.slow
@given(content=nasty)
def test_a_file_with_one_column_keeps_every_line(path, content):
    schema = Schema({"size": Numeric(-2, 5)}, [0, 1])
    records = read(path, b"size\n" + content, schema, None)
    assert records.labels is None
    if not set(content) & set(b',"'):
        lines = content.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", " ")
        assert records.features.num_rows == lines.count("\n") + (lines[-1:] not in ("", "\n"))


def test_one_bad_row_among_good_ones(path):
    row = {"size": 1, "colour": "red", "grade": 3, "member": True}
    for bad in ("x,x,x,x,x", ",?,,,", "nan,blue,1e999,2,2", "1e", "1,red,3,true,yes,?", "\x00"):
        records = read(path, f"{HEADER}1,red,3,true,yes\n{bad}\n\n1,red,3,true,yes\n")
        rows = records.features.to_pylist()
        odd = rows.pop(1)
        assert rows == [row, row]
        assert math.isnan(odd.pop("size"))
        assert not any(odd.values())
        assert sorted(records.labels.to_pylist(), key=str) == [None, "yes", "yes"]


def test_bytes_that_are_not_utf8_spoil_one_value_only(path):
    rows = "1,grün,3,true,yes\n".encode() + b"1,gr\xfcn,3,true,yes\n\xff,ragged\n"
    records = read(path, HEADER.encode() + rows)
    assert records.features.column("colour").to_pylist() == ["grün", None, None]
    assert records.features.column("grade").to_pylist() == [3, 3, None]


@pytest.mark.slow
def test_a_long_value_and_a_quote_never_closed(path):
    long = "x" * 3_000_000
    good = "1,red,3,true,yes\n"
    assert read(path, HEADER + f"1,{long},3,true,yes\n" + good).features.num_rows == 2
    for bad in (f'1,"{long},3\n', f'"{long}\n'):
        records = read(path, HEADER + good * 50_000 + bad + good)
        assert records.labels.to_pylist() == ["yes"] * 50_000 + [None, "yes"]
        swallowed = read(path, HEADER + good * 50_000 + bad + good, MULTILINE)
        assert swallowed.labels.to_pylist() == ["yes"] * 50_000 + [None]


# --- numbers ------------------------------------------------------------------------------------


def numbers_of(*texts):
    return parse_text_numbers(pa.chunked_array([list(texts)], pa.string())).values


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1", 1), ("-1.5", -1.5), ("+1", 1), (" 1\t", 1), ("1.", 1), (".5", 0.5), ("1e5", 1e5),
        ("1E-5", 1e-5), ("0012", 12), ("inf", math.inf), ("-Infinity", -math.inf),
        ("+INF", math.inf), ("1e999", math.inf), ("-1e999", -math.inf), ("1e-999", 0),
        ("9" * 400, math.inf), ("true", 1), ("False", 0), ("TRUE", 1), ("4.9e-324", 5e-324),
        ("", math.nan), ("nan", math.nan), ("NA", math.nan), ("1,5", math.nan), ("1_0", math.nan),
        ("0x1", math.nan), ("1f", math.nan), ("٣", math.nan), ("1\x00", math.nan),
        ("--1", math.nan), ("+-1", math.nan), ("++1", math.nan), ("1 2", math.nan),
        (".", math.nan), ("e5", math.nan), ("1e", math.nan), ("infinit", math.nan),
        ("nan(1)", math.nan), ("1\n2", math.nan),
    ],
)  # fmt: skip
def test_what_a_number_is(text, number):
    np.testing.assert_array_equal(numbers_of(text), [number])
    np.testing.assert_array_equal(numbers_of(text, "?"), [number, math.nan])


def test_a_long_value_that_is_nearly_a_number_takes_no_longer_than_others(path):
    """Not the square of its length, as a pattern takes that tries every end of the digits."""
    long = "1" * 2_000_000 + "x"
    schema = Schema({"a": Categorical([1, 2]), "b": Numeric(0, 9)}, [0, 1])
    records = read(path, f"a,b,y\n1,2,0\n{long},{long},1\n", schema, "y")
    assert records.features.column("a").to_pylist() == [1, None]


@given(st.text(st.sampled_from("0123456789.eE+-infaNtyxrlus \t\n\x00ü("), max_size=8) | st.text())
def test_a_number_does_not_depend_on_its_neighbours(text):
    alone = numbers_of(text)
    np.testing.assert_array_equal(numbers_of(text, "not a number")[:1], alone)
    np.testing.assert_array_equal(numbers_of("1", text)[1:], alone)


@pytest.mark.slow
@given(st.lists(st.floats() | st.integers(-(10**30), 10**30), min_size=1))
def test_numbers_round_trip(path, numbers):
    schema = Schema({"a": Numeric(0, 1)}, [0, 1])
    text = written([["a", "y"], *([number, 0] for number in numbers)])
    found = read(path, text, schema, "y").features.column("a").to_numpy()
    np.testing.assert_array_equal(found, np.array(numbers, dtype=float))


# --- categories ---------------------------------------------------------------------------------


@pytest.mark.slow
@given(
    rows=st.lists(st.tuples(st.text(max_size=5), st.sampled_from("ab")), min_size=1),
    terminator=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_text_categories_round_trip(path, rows, terminator):
    rows = [("first", "a"), *rows]  # for a mark of the byte order would be taken for one
    categories = list(dict.fromkeys(text for text, _ in rows))
    multiline = CsvDialect(multiline=True)
    schema = Schema({"a,\n": Categorical(categories)}, ["a", "b"], csv=multiline)
    text = written([["a,\n", "y"], *rows], terminator, csv.QUOTE_ALL)
    records = read(path, text, schema, "y")
    assert records.features.column("a,\n").to_pylist() == [text for text, _ in rows]
    assert records.labels.to_pylist() == [label for _, label in rows]


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, unique=True))
def test_whole_number_categories_round_trip_exactly(path, categories):
    schema = Schema({"a": Categorical(categories)}, [0, 1])
    text = written([["a", "y"], *([number, 1] for number in categories)])
    assert read(path, text, schema, "y").features.column("a").to_pylist() == categories


@pytest.mark.slow
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, unique=True))
def test_float_categories_round_trip(path, categories):
    schema = Schema({"a": Categorical(categories)}, [0, 1])
    text = written([["a", "y"], *([number, 1] for number in categories)])
    assert read(path, text, schema, "y").features.column("a").to_pylist() == categories


@pytest.mark.parametrize(
    ("labels", "text", "value"),
    [
        ([1, 2], "1", 1), ([1, 2], "1.0", 1), ([1, 2], " 2 ", 2), ([1, 2], "+1", 1),
        ([1, 2], "1e0", 1), ([1, 2], "01", 1), ([1, 2], "True", 1), ([1, 2], "1.5", None),
        ([1, 2], "one", None), ([1, 2], "", None), ([1, 2], "9" * 5000, None),
        ([1, 2], "inf", None), ([1, 2], "nan", None), ([1, 2], "٢", None),
        ([0.5, 2], "0.50", 0.5), ([0.5, 2], ".5", 0.5), ([0.5, 2], "2", 2),
        ([True, False], "true", True), ([True, False], "FALSE", False), ([True, False], "1", True),
        ([True, False], "0.0", False), ([True, False], "2", None), ([True, False], "yes", None),
        (["1", "01"], "01", "01"), (["1", "01"], "1.0", None), (["True"], "true", None),
        (["a", " a"], " a", " a"), (["a", " a"], " a ", "a"), (["a", "b"], "\tb ", "b"),
        (["a", ""], " ", ""), (["NA", "x"], "NA", "NA"),
    ],
)  # fmt: skip
def test_what_a_category_is(path, labels, text, value):
    schema = Schema({"a": Categorical(labels)}, [0, 1])
    content = written([["a", "y"], [text, 0], ["?", 0]], quoting=csv.QUOTE_ALL)
    assert read(path, content, schema, "y").features.column("a").to_pylist() == [value, None]
    other = Schema({"y": Numeric(0, 1)}, labels if len(labels) > 1 else [*labels, "?!"])
    assert read(path, content, other, "a").labels.to_pylist() == [value, None]


@pytest.mark.parametrize("labels", [[2**63, 0], [2**53 + 1, 0.5], [10**400, 1]])
def test_number_categories_beyond_64_bits_are_refused_by_the_schema_alone(path, labels):
    with pytest.raises(SchemaError, match="64-bit numbers"):
        read(path, "a,y\n", Schema({"a": Categorical(labels)}, [0, 1]), "y")


def test_labels_need_strings():
    with pytest.raises(TypeError, match="must be strings, got int64"):
        parse_text_labels(pa.chunked_array([[1]]), ["a"])


def test_it_reads_as_the_frame_it_was_written_from(path):
    frame = pd.DataFrame(
        {
            "size": [1.5, None, 7.0, -9.0],
            "colour": ["red", "grün", None, "x, y"],
            "grade": [3, 0.5, 2, None],
            "member": [True, False, True, False],
        }
    )
    labels = pd.Series(["yes", "no", "perhaps", "yes"], name="answer")
    frame.assign(answer=labels, id=range(4)).to_csv(path, index=False)
    records = read_files([path], SCHEMA, "answer", allow_ragged=False)
    frame["colour"] = frame["colour"].fillna("")  # an empty text is what the file says
    for found, expected in zip(
        read_features(records.features, SCHEMA), read_features(frame, SCHEMA), strict=True
    ):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(read_labels(records.labels, SCHEMA), read_labels(labels, SCHEMA))
    assert records.ignored == ("id",)


# --- rows and the header ------------------------------------------------------------------------


def test_a_ragged_row_is_an_error_where_each_row_counts(path):
    for row, found in (("1,red", 2), ("1,red,3,true,yes,secret", 6)):
        with pytest.raises(SchemaError) as stopped:
            read(path, f"{HEADER}1,red,3,true,yes\n{row}\n", allow_ragged=False)
        assert str(stopped.value) == (
            f"{path}: row 3, blank lines not counted, must have 5 values, as the first row has, "
            f"got {found}. "
            "Fix or remove the row."
        )
    assert (
        read(path, f"{HEADER}\n\n1,red,3,true,yes\n\n", allow_ragged=False).features.num_rows == 1
    )


@pytest.mark.parametrize(
    "header",
    [
        "answer,size,id,colour,member,grade\n",
        "\ufeffanswer,size,id,colour,member,grade\r\n",
        "\n\r\nanswer, size ,id,colour,member,grade\r",
        'answer,"size","i\nd",colour,"member",grade\n',
    ],
)
def test_columns_are_found_by_name_and_the_others_ignored(path, header):
    records = read(path, header + "yes,1,?,red,true,3\n", MULTILINE if '"' in header else SCHEMA)
    assert records.features.to_pylist() == [
        {"size": 1, "colour": "red", "grade": 3, "member": True}
    ]
    assert records.labels.to_pylist() == ["yes"]
    assert records.ignored == ("i" if "i\nd" in header else "id",)


SEMICOLONS = (
    "Its columns are separated by semicolons: pass --delimiter ';' (delimiter=\";\" in Python)."
)
LATIN_1 = (
    "Its first row is not utf-8 text: pass --encoding, such as latin-1 "
    '(encoding="latin-1" in Python).'
)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "lacks 'size', 'colour', 'grade', 'member', 'answer'. The file is empty."),
        ("\n\n", "'answer'. The file is empty."),
        ("size;colour;grade\n1;red;3\n", f"'answer'. {SEMICOLONS}"),
        ("size\tcolour\tgrade\n1\tred\t3\n", "'answer'. Its columns are separated by tabs: pass "
         "--delimiter 'tab' (delimiter=\"tab\" in Python)."),
        ('"size";"colour"\n1;"red"\n', SEMICOLONS),
        ('"size"\r\n"1"x;"red"\r\n', "'answer'."),
        ("x,y\n1,red\n", "'answer'. Its first row must name the columns."),
        ("size,colour,grade,member\n1,red;,3,true\n", "lacks 'answer'."),
        ("size,colour,grade,member,Gr\xf6\xdfe\n1,red,3,true\n".encode("cp1252"),
         f"lacks 'answer'. {LATIN_1}"),
        ("size,colour,grade,member,answ\xe9r\n1,red,3,true\n".encode("cp1252"),
         f"lacks 'answer'. {LATIN_1}"),
        ("Gr\xf6\xdfe;colour\n1;red\n".encode("cp1252"), f"{LATIN_1} {SEMICOLONS}"),
        ("size,size,colour,grade,member,answer\n", "must be distinct, got 'size' twice. Rename or "
         "delete one of the columns."),
        (b'\xef\xbb\xbf\n"size"x\n', "'answer'. Did you mean 'sizex'?"),
        ('"size";"colour"\r1;"red"\r', SEMICOLONS),
        ('"' + "x" * 200_000, "the first row must name the columns, but cannot be read. It must "
         "close its quotes. If a name spans several lines, pass --multiline (multiline=True in "
         "Python)."),
        ('size,colour,grade,member,answer,"id\n1,red,3,true,yes,7\n', "the first row must name"),
        ('size;colour;grade,"id\n1,red,3,true,yes,7\n', "the first row must name"),
        (HEADER.encode("utf-16"), LATIN_1.replace("latin-1", "utf-16")),
    ],
)  # fmt: skip
def test_a_header_that_does_not_do(path, content, message):
    with pytest.raises(SchemaError) as stopped:
        read(path, content)
    said = str(stopped.value)
    assert said.endswith(message) if message.endswith(".") else message in said
    assert said.startswith(f"{path}: ")
    assert "red" not in said
    assert "\ufffd" not in said
    assert "\n" not in str(stopped.value)


def test_a_stray_quote_in_the_first_row_shows_no_record(path):
    hidden = 'size,colour,grade,member,answer,"id\n1,red,3,true,yes,7"\n2,red,3,true,no,8\n'
    assert read(path, hidden, MULTILINE).ignored == ("id",)


@pytest.mark.parametrize("hidden", ["1,yes", "1;\t\xff,yes"])
def test_what_the_records_hold_is_no_mistake_of_the_first_row(path, hidden):
    """Not even where a stray quote makes a name of them, or nothing that is needed is found."""
    for first, message in (
        ('"x\n', "lacks 'size'"),
        ("x\n", "lacks 'size'"),
        ('size,colour,grade,member,"x\n', "lacks 'answer'."),
    ):
        content = f"{first}{hidden}{chr(34) if chr(34) in first else ''}\n1,2\n".encode("latin-1")
        with pytest.raises(SchemaError) as stopped:
            read(path, content, MULTILINE)
        assert message in str(stopped.value)
        assert not any(word in str(stopped.value) for word in ("UTF-8", "semicolon", "tabs"))


def test_bytes_that_are_not_utf_8_in_records_are_no_error_with_a_schema(path):
    content = f"{HEADER}1,gr\xfcn,3,true,yes\n1,red,3,true,no\n".encode("cp1252")
    assert read(path, content).labels.to_pylist() == ["yes", "no"]
    with pytest.raises(
        SchemaError,
        match=r"must be utf-8 text, but some bytes are not. Pass --encoding, such as latin-1.$",
    ):
        read_files_without_schema([path], "answer")


def test_a_column_to_keep_that_is_not_there_tells_nothing_of_commas(path):
    path.write_text("size,colour,grade,member\n1,red,3,true\n")
    with pytest.raises(SchemaError, match=r"lacks 'name'\.$"):
        open_files([path], SCHEMA, keep=["name"])
    with pytest.raises(SchemaError, match=r"lacks 'sise'\. Did you mean 'size'\?$"):
        open_files([path], SCHEMA, keep=["sise"])


def test_the_target_is_no_feature(path):
    with pytest.raises(SchemaError, match="'size' must not be a feature"):
        read(path, HEADER, target="size")


def test_compressed(tmp_path):
    path = tmp_path / "data.csv.gz"
    path.write_bytes(gzip.compress((HEADER + "1,red,3,true,yes\n").encode()))
    assert read_files([path], SCHEMA, "answer", allow_ragged=True).labels.to_pylist() == ["yes"]
    whole = path.read_bytes()
    for broken in (b"no gzip", whole[:-9], whole[:20] + b"\xff" * 10 + whole[30:]):
        path.write_bytes(broken)
        with pytest.raises(ParameterError, match="must be a complete gzip file"):
            read_files([path], SCHEMA, "answer", allow_ragged=True)


def test_compressed_parts_in_one_file(tmp_path):
    path = tmp_path / "data.csv.gz"
    parts = [HEADER + "1,red,3,true,yes\n1,r", "ed,3,true,no\n"]
    path.write_bytes(b"".join(gzip.compress(part.encode()) for part in parts))
    records = read_files([path], SCHEMA, "answer", allow_ragged=False)
    assert records.labels.to_pylist() == ["yes", "no"]


# --- Parquet ------------------------------------------------------------------------------------


COLUMNS = {
    "id": pa.array([7, 8]),
    "member": pa.array([None, True]),
    "grade": pa.array([0.5, 9]),
    "colour": pa.array(["red", "blue"]).dictionary_encode(),
    "size": pa.array([1, None]),
    "answer": pa.array(["no", None]),
}


def read_parquet(path, columns, schema=SCHEMA, target="answer"):
    pq.write_table(pa.table(columns), path)
    return read_files([path], schema, target, allow_ragged=True)


def test_parquet(tmp_path):
    records = read_parquet(tmp_path / "a.parquet", COLUMNS)
    assert records.features.column_names == list(SCHEMA.names)
    assert records.features.column("size").to_pylist()[0] == 1
    assert math.isnan(records.features.column("size").to_pylist()[1])
    assert records.features.column("colour").to_pylist() == ["red", None]
    assert records.features.column("grade").to_pylist() == [0.5, None]
    assert records.features.column("member").to_pylist() == [None, True]
    assert records.labels.to_pylist() == ["no", None]
    assert records.ignored == ("id",)


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("size", pa.array([Decimal("1.5"), None])),
        ("size", pa.array([True, False])),
        ("size", pa.array([1, 2]).dictionary_encode()),
        ("size", pa.nulls(2)),
        ("colour", pa.nulls(2)),
        ("colour", pa.array([math.nan, math.nan])),  # as pandas writes text of which all is missing
        ("grade", pa.array([1, 2])),
        ("answer", pa.nulls(2)),
        ("answer", pa.array([math.nan, math.nan])),
    ],
)
def test_parquet_types_that_fit_give_the_same_types(tmp_path, name, column):
    first = read_parquet(tmp_path / "a.parquet", COLUMNS)
    other = read_parquet(tmp_path / "b.parquet", COLUMNS | {name: column})
    assert first.features.schema == other.features.schema
    assert first.labels.type == other.labels.type


@pytest.mark.parametrize(
    ("name", "column", "message"),
    [
        ("size", pa.array(["1", "2"]), "column 'size' has type string, but the schema declares it"),
        ("colour", pa.array([1, 2]), "column 'colour' has type int64, but the schema declares"),
        ("grade", pa.array(["1", "2"]), "column 'grade' has type string"),
        ("answer", pa.array([1, 2]), "column 'answer' has type int64, but the schema declares"),
        ("answer", pa.array([True, False]), "column 'answer' has type bool"),
    ],
)
def test_parquet_types_that_contradict_the_schema(tmp_path, name, column, message):
    path = tmp_path / "a.parquet"
    with pytest.raises(SchemaError) as stopped:
        read_parquet(path, COLUMNS | {name: column})
    assert str(stopped.value).startswith(f"{path}: {message}")


def test_parquet_that_lacks_a_column_or_is_none(tmp_path):
    path = tmp_path / "a.parquet"
    with pytest.raises(SchemaError) as stopped:
        read_parquet(path, {"size": pa.array([1])})
    assert str(stopped.value).endswith("lacks 'colour', 'grade', 'member', 'answer'.")
    for content in (b"", b"this is no such file", path.read_bytes()[:-20]):
        path.write_bytes(content)
        with pytest.raises(ParameterError, match="must be a Parquet file, but cannot"):
            read_files([path], SCHEMA, "answer", allow_ragged=True)


def test_parquet_names_with_dots(tmp_path):
    schema = Schema({"a.b": Numeric(0, 9)}, [0, 1])
    columns = {"a": pa.array([{"b": 7}]), "a.b": pa.array([5]), "y": pa.array([1])}
    records = read_parquet(tmp_path / "a.parquet", columns, schema, "y")
    assert records.features.to_pylist() == [{"a.b": 5}]


# --- several files ------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    for name, size in (("b", 2), ("a", 1), ("c", 3)):
        (folder / f"{name}.csv").write_text(f"{HEADER}{size},red,3,true,yes\n")
    for name in ("README.md", "_SUCCESS", "_hidden.csv", ".hidden.csv"):
        (folder / name).write_text("")
    (folder / "below.csv").mkdir()
    return folder


def test_files_folders_and_patterns(folder):
    def names(*paths):
        return [file.name for file in find_files(paths)]

    assert names(folder) == ["a.csv", "b.csv", "c.csv"]
    assert names(str(folder / "[ab].csv")) == ["a.csv", "b.csv"]
    assert names(f"{folder.parent}/**/?.csv") == ["a.csv", "b.csv", "c.csv"]
    assert names(folder / "c.csv", folder / "a.csv") == ["c.csv", "a.csv"]
    assert names(folder.parent / "*") == ["a.csv", "b.csv", "c.csv"]
    (folder / "[ab].csv").write_text("")
    assert names(folder / "[ab].csv") == ["[ab].csv"]
    (folder / "[ab].csv").unlink()

    records = read_files(find_files([folder]), SCHEMA, "answer", allow_ragged=True)
    assert records.features.column("size").to_pylist() == [1, 2, 3]
    assert records.labels.to_pylist() == ["yes"] * 3


def test_paths_that_do_not_do(folder):
    for path in (folder / "d.csv", folder / "d*.csv", folder / "a.csv" / "x.csv"):
        with pytest.raises(FileNotFoundError) as stopped:
            find_files([path])
        assert stopped.value.filename == str(path)
    with pytest.raises(ParameterError, match=r"below\.csv: the folder must contain"):
        find_files([folder / "below.csv"])
    with pytest.raises(
        ParameterError, match=r"README\.md: the name of a data file must end in \.csv or"
    ):
        find_files([folder / "README.md"])
    with pytest.raises(ParameterError, match=r"a\.csv: is listed twice"):
        find_files([folder, folder / "a.csv"])
    os.symlink(folder / "a.csv", folder / "d.csv")
    with pytest.raises(ParameterError, match=r"d\.csv: is listed twice"):
        find_files([folder])
    (folder / "d.csv").unlink()
    (folder / "e.PARQUET").write_text("")
    with pytest.raises(ParameterError, match="got both"):
        find_files([folder])


def test_parquet_files_of_different_types_are_one_table(tmp_path):
    for name, kind in (("a", pa.int8()), ("b", pa.float64()), ("c", pa.decimal128(5, 2))):
        column = pa.array([1, None], pa.int8()).cast(kind)
        pq.write_table(pa.table(COLUMNS | {"size": column}), tmp_path / f"{name}.parquet")
    records = read_files(find_files([tmp_path]), SCHEMA, "answer", allow_ragged=True)
    np.testing.assert_array_equal(records.features.column("size").to_numpy(), [1, math.nan] * 3)
    assert records.labels.to_pylist() == ["no", None] * 3


# --- without a schema ---------------------------------------------------------------------------


def test_types_are_guessed_without_a_schema(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,c,t,y\n1,a,true,no\n,,,yes\nragged\n2.5,b,false,no\n")
    records = read_files_without_schema([path], "y")
    assert records.features.to_pylist() == [
        {"x": 1, "c": "a", "t": True},
        {"x": None, "c": None, "t": None},
        {"x": 2.5, "c": "b", "t": False},
    ]
    assert records.labels.to_pylist() == ["no", "yes", "no"]
    pq.write_table(pa.table({"x": [1, 2], "y": ["a", "b"]}), tmp_path / "b.parquet")
    records = read_files_without_schema([tmp_path / "b.parquet"], "y")
    assert records.features.to_pylist() == [{"x": 1}, {"x": 2}]


def test_files_without_a_schema_must_agree(tmp_path):
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text("x,y\n1,no\n")
    second.write_text("y,x\nyes,1.5\n")
    records = read_files_without_schema([first, second], "y")
    assert records.features.to_pylist() == [{"x": 1.0}, {"x": 1.5}]
    for content, message in [
        ("y\nyes\n", "lacks 'x'"),
        ("x,z,y\n1,2,no\n", "must have only columns that the first file also has"),
        ("x,y\nword,no\n", "one type in all files"),
    ]:
        second.write_text(content)
        with pytest.raises(SchemaError, match=message):
            read_files_without_schema([first, second], "y")
    with pytest.raises(SchemaError, match="lacks 'z'"):
        read_files_without_schema([first], "z")


# --- ids of units ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_ids_of_units_are_read_where_they_are_asked_for(tmp_path, kind):
    schema = Schema({"age": Numeric(0, 100)}, ["no", "yes"], unit="who")
    frame = pd.DataFrame({"who": ["a", None, "b"], "note": "x", "age": 1, "ill": "no"})
    file = tmp_path / f"data.{kind}"
    frame.to_csv(file, index=False) if kind == "csv" else frame.to_parquet(file)
    records = read_files([file, file], schema, "ill", allow_ragged=True, with_units=True)
    missing = "" if kind == "csv" else None
    assert records.units.to_pylist() == ["a", missing, "b"] * 2
    assert (records.ignored, records.features.column_names) == (("note",), ["age"])
    without = read_files([file], schema, "ill", allow_ragged=True)
    assert (without.units, without.ignored) == (None, ("who", "note"))
    undeclared = replace(schema, unit=None)
    found = read_files([file], undeclared, "ill", allow_ragged=True, with_units=True)
    assert found.units is None


def test_units_that_are_floats_or_not_there_are_refused(tmp_path):
    schema = Schema({"age": Numeric(0, 100)}, ["no", "yes"], unit="who")
    file = tmp_path / "data.parquet"
    pd.DataFrame({"who": [1.5], "age": 1, "ill": "no"}).to_parquet(file)
    with pytest.raises(SchemaError, match=r"data.parquet: column 'who' must have whole numbers or"):
        read_files([file], schema, "ill", allow_ragged=True, with_units=True)
    with pytest.raises(SchemaError, match="lacks 'whose'"):
        read_files([file], replace(schema, unit="whose"), "ill", allow_ragged=True, with_units=True)
