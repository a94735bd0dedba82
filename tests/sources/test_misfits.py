import pandas as pd
import pytest

from privatree import Categorical, Numeric, Schema
from privatree.errors import SchemaError
from privatree.sources.files import read_files
from privatree.sources.misfits import Misfit, find_misfits

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
    return find_misfits([file], schema, target)


def test_what_does_not_fit_in_a_csv_file(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text(CSV)
    misfits = found(file)
    assert misfits.found == [
        Misfit("age", "missing", 2, ("'n/a'",)),
        Misfit("age", "not a number: counts as missing", 1, ("'?'",)),
        Misfit("age", "below the range", 1, ("-3",)),
        Misfit("age", "above the range", 4, ("130", "131", "inf")),
        Misfit("age", "not whole", 1, ("2.5",)),
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
    assert found(file).found == [
        Misfit("age", "missing", 3, ("'NA'", "'null'")),
        Misfit("ward", "missing", 3, ("'NULL'", "'NA'")),
        Misfit("grade", "missing", 1, ("'nan'",)),
        Misfit("grade", "not a category", 1, ("'?'",)),
        Misfit("ill", "missing: left out", 1, ("'#N/A'",)),
    ]
    declared = Schema({"ward": Categorical(["NA", "NULL"])}, ["no", "#N/A"])
    assert found(file, declared).found == [Misfit("ward", "missing", 1)]


def test_values_that_fit_without_blanks_only_are_counted(tmp_path):
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for file in files:
        file.write_text("age,ward,grade,ill\n 1 , east, 1 ,no \n2,west ,2,\tno\n3, south ,2,no\n")
    spaced = Schema({**SCHEMA.features, "ward": Categorical([" east", "west"])}, SCHEMA.classes)
    assert find_misfits(files, SCHEMA, "ill").trimmed == {"ward": 4, "ill": 4}
    assert find_misfits(files, spaced, "ill").trimmed == {"ward": 2, "ill": 4}


def test_a_file_that_is_not_utf_8_is_named(tmp_path):
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for file, encoding in zip(files, ["cp1252", "utf-8"], strict=True):
        file.write_bytes("\xc4ge,age,ward,grade,ill\n1,1,east,1,no\n".encode(encoding))
    assert find_misfits(files, SCHEMA, "ill").not_utf8 == [str(files[0])]
    misspelt = find_misfits(files[:1], Schema({"\xc4ge": Numeric(0, 1)}, SCHEMA.classes), "ill")
    assert misspelt.found == [Misfit("\xc4ge", f"not in {files[0]}: fit will refuse.")]


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
    assert misfits.found == [
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
    assert find_misfits(files, SCHEMA, "ill").found == [
        Misfit("age", "below the range", 2, ("-1",))
    ]


def test_a_column_that_fit_would_refuse_is_named(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("Age,ward,ward,ill\n1,east,east,no\n")
    assert found(file).found == [
        Misfit("age", f"not in {file}: fit will refuse. Did you mean 'Age'?"),
        Misfit("ward", f"twice in {file}: fit will refuse. Rename or delete one."),
        Misfit("grade", f"not in {file}: fit will refuse."),
    ]
    with pytest.raises(SchemaError):
        read_files([file], SCHEMA, "ill", allow_ragged=True)


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        ("", "The file is empty."),
        ("\n", "The file is empty."),
        ("a,b\n1,2\n", "Its first row must name them."),
        ("age;ward\n1;east\n", "Its columns have semicolons between: pass --delimiter ';'."),
    ],
)
def test_another_table_is_refused(tmp_path, content, hint):
    file = tmp_path / "data.csv"
    file.write_text(content)
    with pytest.raises(SchemaError) as refused:
        found(file)
    said = f"{file}: must have the columns of the schema, and has none. {hint}"
    assert str(refused.value) == said


def test_columns_that_are_all_there_twice(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("age,age\n1,2\n")
    assert [m.what for m in found(file).found][:1] == [
        f"twice in {file}: fit will refuse. Rename or delete one."
    ]


def test_a_type_that_fit_would_refuse_is_named(tmp_path):
    file = tmp_path / "data.parquet"
    frame = pd.DataFrame({"age": ["x"], "ward": ["east"], "grade": [1], "ill": [True]})
    frame.to_parquet(file)
    age, ill = found(file).found
    assert age.what.startswith(f"{file}: column 'age' has type ")
    assert ill.what.startswith(f"{file}: column 'ill' has type bool")
    assert age.records is ill.records is None
    with pytest.raises(SchemaError):
        read_files([file], SCHEMA, "ill", allow_ragged=True)


def test_a_target_that_is_a_feature_is_refused(tmp_path):
    with pytest.raises(SchemaError, match="'age' must not be a feature"):
        found(tmp_path / "none.csv", target="age")
