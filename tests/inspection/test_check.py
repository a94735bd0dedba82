import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import privatree
from privatree import Categorical, Numeric, PrivaTreeClassifier, Schema
from privatree.errors import SchemaError
from privatree.inspection import check_files_against_schema
from privatree.inspection._check_result import Misfit
from privatree.sources import ArrowSource, read_files

SCHEMA = Schema(
    {
        "age": Numeric(0, 100, integer=True),
        "ward": Categorical(["east", "west"]),
        "grade": Categorical([1, 2]),
    },
    ["no", "yes"],
)

CSV = """age, ward ,grade,ill,id
50,east,1,no,1
-3, west ,2.0,yes,2
130,north,3,Yes,3
131,North,x,maybe,4
130,north,,,5
1e999,,1,no,6
n/a,east,1,no,7
,east,1,no,8
2.5,east,1,no,9
?,east,1,no,10
1,east
"""


def found(file, schema=SCHEMA, target="ill"):
    return check_files_against_schema([file], schema, target)


def test_what_does_not_fit_in_a_csv_file(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text(CSV)
    misfits = found(file)
    assert misfits.misfits == [
        Misfit("age", "missing", 2, ("'n/a'",)),
        Misfit("age", "not a number: counts as missing", 1, ("'?'",)),
        Misfit("age", "below the range", 1, ("-3",)),
        Misfit("age", "above the range", 4, ("130", "131", "inf")),
        Misfit("age", "not a whole number", 1, ("2.5",)),
        Misfit("ward", "missing", 1),
        Misfit("ward", "not a category", 3, ("'north'", "'North'")),
        Misfit("grade", "missing", 1),
        Misfit("grade", "not a category", 2, ("'3'", "'x'")),
        Misfit("ill", "missing: left out", 1),
        Misfit("ill", "not a class: left out", 2, ("'Yes'", "'maybe'")),
    ]
    assert (misfits.n_records, misfits.n_ragged, misfits.ignored) == (11, 1, ["id"])
    assert (misfits.trimmed, misfits.not_utf8) == ({"ward": 1}, [])


def test_words_for_no_value_are_missing_unless_they_are_declared(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("age,ward,grade,ill\n NA ,NULL,nan,#N/A\nnull,,1,no\n,NA,?,no\n")
    assert found(file).misfits == [
        Misfit("age", "missing", 3, ("'NA'", "'null'")),
        Misfit("ward", "missing", 3, ("'NULL'", "'NA'")),
        Misfit("grade", "missing", 1, ("'nan'",)),
        Misfit("grade", "not a category", 1, ("'?'",)),
        Misfit("ill", "missing: left out", 1, ("'#N/A'",)),
    ]
    declared = Schema({"ward": Categorical(["NA", "NULL"])}, ["no", "#N/A"])
    assert found(file, declared).misfits == [Misfit("ward", "missing", 1)]


def test_values_that_fit_without_blanks_only_are_counted(tmp_path):
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for file in files:
        file.write_text("age,ward,grade,ill\n 1 , east, 1 ,no \n2,west ,2,\tno\n3, south ,2,no\n")
    spaced = Schema({**SCHEMA.features, "ward": Categorical([" east", "west"])}, SCHEMA.classes)
    assert check_files_against_schema(files, SCHEMA, "ill").trimmed == {"ward": 4, "ill": 4}
    assert check_files_against_schema(files, spaced, "ill").trimmed == {"ward": 2, "ill": 4}


def test_a_file_that_is_not_utf_8_is_named(tmp_path):
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for file, encoding in zip(files, ["cp1252", "utf-8"], strict=True):
        file.write_bytes("\xc4ge,age,ward,grade,ill\n1,1,east,1,no\n".encode(encoding))
    assert check_files_against_schema(files, SCHEMA, "ill").not_utf8 == [str(files[0])]
    misspelt = check_files_against_schema(
        files[:1], Schema({"\xc4ge": Numeric(0, 1)}, SCHEMA.classes), "ill"
    )
    assert misspelt.misfits == [Misfit("\xc4ge", f"not in {files[0]}: fit will raise an error.")]


def test_what_does_not_fit_in_a_parquet_file(tmp_path):
    file = tmp_path / "data.parquet"
    pd.DataFrame(
        {
            "age": pd.array([50, 130, None], dtype="Int64"),
            "ward": ["east", "north", None],
            "grade": [1.0, 3.0, None],
            "ill": ["no", "Yes", None],
            "id": [1, 2, 3],
        }
    ).to_parquet(file)
    misfits = found(file)
    assert misfits.misfits == [
        Misfit("age", "missing", 1),
        Misfit("age", "above the range", 1, ("130",)),
        Misfit("ward", "missing", 1),
        Misfit("ward", "not a category", 1, ("'north'",)),
        Misfit("grade", "missing", 1),
        Misfit("grade", "not a category", 1, ("3",)),
        Misfit("ill", "missing: left out", 1),
        Misfit("ill", "not a class: left out", 1, ("'Yes'",)),
    ]
    assert (misfits.n_records, misfits.n_ragged, misfits.ignored) == (3, 0, ["id"])


def test_files_are_counted_together(tmp_path):
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for file in files:
        file.write_text("age,ward,grade,ill\n-1,east,1,no\n")
    assert check_files_against_schema(files, SCHEMA, "ill").misfits == [
        Misfit("age", "below the range", 2, ("-1",))
    ]


def test_a_column_that_fit_would_refuse_is_named(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("Age,ward,ward,ill\n1,east,east,no\n")
    assert found(file).misfits == [
        Misfit("age", f"not in {file}: fit will raise an error. Did you mean 'Age'?"),
        Misfit("ward", f"twice in {file}: fit will raise an error. Rename or delete one."),
        Misfit("grade", f"not in {file}: fit will raise an error."),
    ]
    with pytest.raises(SchemaError):
        read_files([file], SCHEMA, "ill", allow_ragged=True)


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        ("", "The file is empty."),
        ("\n", "The file is empty."),
        ("a,b\n1,2\n", "Its first row must name them."),
        (
            "age;ward\n1;east\n",
            "Its columns are separated by semicolons: pass --delimiter ';' ("
            'delimiter=";" in Python).',
        ),
    ],
)
def test_another_table_is_refused(tmp_path, content, hint):
    file = tmp_path / "data.csv"
    file.write_text(content)
    with pytest.raises(SchemaError) as refused:
        found(file)
    said = f"{file}: must have the columns of the schema, but has none of them. {hint}"
    assert str(refused.value) == said


def test_columns_that_are_all_there_twice(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("age,age\n1,2\n")
    assert [m.what for m in found(file).misfits][:1] == [
        f"twice in {file}: fit will raise an error. Rename or delete one."
    ]


def test_a_type_that_fit_would_refuse_is_named(tmp_path):
    file = tmp_path / "data.parquet"
    frame = pd.DataFrame({"age": ["x"], "ward": ["east"], "grade": [1], "ill": [True]})
    frame.to_parquet(file)
    age, ill = found(file).misfits
    assert age.what.startswith(f"{file}: column 'age' has type ")
    assert ill.what.startswith(f"{file}: column 'ill' has type bool")
    assert age.records is ill.records is None
    with pytest.raises(SchemaError):
        read_files([file], SCHEMA, "ill", allow_ragged=True)


def test_a_target_that_is_a_feature_is_refused(tmp_path):
    with pytest.raises(SchemaError, match="'age' must not be a feature"):
        found(tmp_path / "none.csv", target="age")


# --- frames in Python ---------------------------------------------------------------------------

ROWS = [
    [50, "east", 1, "no"],
    [-3, " west", 2, "yes"],
    [130, "north", 3, "Yes"],
    [None, None, None, None],
    [2.5, "east", 1, "no"],
]
FRAME = pd.DataFrame(ROWS, columns=["age", "ward", "grade", "ill"])
MISFITS = [
    Misfit("age", "missing", 1),
    Misfit("age", "below the range", 1, ("-3",)),
    Misfit("age", "above the range", 1, ("130",)),
    Misfit("age", "not a whole number", 1, ("2.5",)),
    Misfit("ward", "missing", 1),
    Misfit("ward", "not a category", 2, ("' west'", "'north'")),
    Misfit("grade", "missing", 1),
    Misfit("grade", "not a category", 1, ("3",)),
    Misfit("y", "missing: left out", 1),
    Misfit("y", "not a class: left out", 1, ("'Yes'",)),
]

CONTAINERS = {
    "pandas": lambda: (FRAME, FRAME["ill"]),
    "pandas of objects": lambda: (FRAME.astype(object), FRAME["ill"].astype(object)),
    "pandas of categories": lambda: (
        FRAME.astype({"ward": "category"}), FRAME["ill"].astype("category")
    ),
    "polars": lambda: (pl.from_pandas(FRAME), pl.Series([row[3] for row in ROWS])),
    "lazy polars": lambda: (pl.from_pandas(FRAME).lazy(), [row[3] for row in ROWS]),
    "Arrow": lambda: (pa.Table.from_pandas(FRAME), pa.array(FRAME["ill"])),
    "rows": lambda: ([row[:3] for row in ROWS], [row[3] for row in ROWS]),
    "numpy": lambda: (
        np.array([row[:3] for row in ROWS], dtype=object),
        np.array([row[3] for row in ROWS], dtype=object),
    ),
}  # fmt: skip


@pytest.mark.parametrize("container", CONTAINERS)
def test_what_does_not_fit_in_a_frame_of_every_kind(container):
    X, y = CONTAINERS[container]()
    checked = SCHEMA.check(X, y)
    found = [replace(m, examples=tuple(e.removesuffix(".0") for e in m.examples))
             for m in checked.misfits]  # fmt: skip
    assert found == MISFITS
    assert (checked.n_records, checked.ok) == (5, False)
    assert checked.ignored == ([] if container in ("rows", "numpy") else ["ill"])


def test_a_frame_is_checked_as_its_file(tmp_path):
    file = tmp_path / "data.parquet"
    FRAME.to_parquet(file)
    of_file = check_files_against_schema([file], SCHEMA, "ill")
    of_frame = SCHEMA.check(FRAME.drop(columns="ill"), FRAME["ill"])
    of_frame.misfits = [replace(m, column="ill") if m.column == "y" else m
                        for m in of_frame.misfits]  # fmt: skip
    assert of_frame == of_file


def test_without_labels_the_columns_are_checked():
    assert SCHEMA.check(FRAME).misfits == [m for m in MISFITS if m.column != "y"]
    fitting = SCHEMA.check(FRAME[:1])
    assert fitting.ok
    assert bool(fitting)
    assert SCHEMA.check([]).ok


def test_every_column_that_fit_would_refuse_is_in_the_list():
    schema = Schema({"age": Numeric(0, 9), "ward": Categorical(["a"]), "city": Categorical(["b"]),
                     "sex": Categorical(["c"]), "size": Numeric(0, 9)}, ["no", "yes"])  # fmt: skip
    X = pd.DataFrame([["1", "a", "a", "b", "c", 1, 1]])
    X.columns = ["age", "ward", "ward", " city ", "Sex", "id", "id"]
    checked = schema.check(X, [True])
    assert checked.misfits == [
        Misfit("age", checked.misfits[0].what),
        Misfit("ward", "twice in X: fit will raise an error. Rename or delete one."),
        Misfit(
            "city", "not in X: fit will raise an error. Remove the blanks around the name ' city '."
        ),
        Misfit("sex", "not in X: fit will raise an error. Did you mean 'Sex'?"),
        Misfit("size", "not in X: fit will raise an error."),
        Misfit("id", "twice in X: fit will raise an error. Rename or delete one."),
        Misfit("y", "not a class: left out", 1, ("True",)),
    ]
    assert checked.misfits[0].what.startswith("column 'age' has type str, but")
    assert checked.ignored == [" city ", "Sex", "id"]
    (type_of_labels,) = SCHEMA.check(FRAME[:1], pd.Series([True])).misfits
    assert type_of_labels == Misfit("y", type_of_labels.what)
    assert type_of_labels.what.startswith("y has type bool, but")
    for columns in (["age"], ["ward", "ward"], []):
        X = pd.DataFrame({"age": [1], "ward": ["a"]})[columns]
        with pytest.raises((SchemaError, ValueError)):
            PrivaTreeClassifier(schema=schema).fit(X, ["no"])


def test_objects_of_any_kind_are_told_by_their_type():
    class Secret:
        def __repr__(self):
            raise RuntimeError

    checked = SCHEMA.check([[Secret(), [1], "x"], ["many", np.float64("nan"), np.str_("2")]])
    assert checked.misfits == [
        Misfit("age", "not a number: counts as missing", 2, ("a Secret", "'many'")),
        Misfit("ward", "missing", 1),
        Misfit("ward", "not a category", 1, ("a list",)),
        Misfit("grade", "not a category", 2, ("'x'", "'2'")),
    ]


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.zeros((2, 2)), None, "X must have the 3 columns of the schema, got 2. Pass a frame"),
        (
            pd.DataFrame({"a": [1]}),
            None,
            "X: must have the columns of the schema, but has none of them.",
        ),
        (np.zeros((2, 3)), ["no"], "X and y must have the same number of rows."),
        ("data.csv", None, "X must be a 2-D numpy array"),
        (ArrowSource(FRAME, "ill"), None, "X must be in memory, got a ArrowSource. The command"),
    ],
    ids=range(5),
)
def test_what_is_no_frame_of_the_schema_is_refused(X, y, message):
    with pytest.raises((SchemaError, TypeError, ValueError), match=message):
        SCHEMA.check(X, y)


@pytest.mark.slow
def test_training_never_checks(monkeypatch):
    """What looks at values to tell of them is imported by those alone who were asked to."""
    root = Path(privatree.__file__).parent
    leaking = {"SchemaCheck", "check_frame_against_schema", "check_files_against_schema"}
    importing = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").startswith("privatree.inspection")
        if leaking & {name.name for name in node.names} and path.parent.name != "inspection"
    }
    assert importing == {"cli/commands/_schema.py", "schema/_schema.py"}

    def refuse(*_):
        raise AssertionError("fit must not check")

    monkeypatch.setattr(Schema, "check", refuse)
    PrivaTreeClassifier(schema=SCHEMA).fit(FRAME.drop(columns="ill"), FRAME["ill"])
