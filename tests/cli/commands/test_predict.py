import csv
import io
import random
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from run_command import run

from privatree import Categorical, Model, Numeric, Schema
from privatree.model import TreeBuilder
from privatree.privacy import PrivacyStatement
from privatree.sources.csv import _csv_file as csv_files
from privatree.sources.csv import _rows as csv_rows


def model(classes=("low", "high"), probability=True, feature=None):
    """age <= 40 ? the first class : the second one."""
    features = {"age": Numeric(0, 100)} if feature is None else {"age": feature}
    builder = TreeBuilder(Schema(features, classes))
    if feature is None:
        young, old = builder.split_numeric(builder.root, 0, 40.0)
    else:
        young, old = builder.split_categories(builder.root, 0, [0])
    others = [0.0] * (len(classes) - 2)
    builder.leaf(young, 0, [0.75, 0.25, *others] if probability else None)
    builder.leaf(old, 1, [0.125, 0.875, *others] if probability else None)
    tree = builder.build()
    return Model(tree.schema, tree, PrivacyStatement(learner="by hand", epsilon=1.0, public=()))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model().save("model.json")
    (tmp_path / "data.csv").write_text("id,age,label\n1,30,?\n2,50,?\n3,,?\n4,many,?\n5,9e9,?\n")
    pd.DataFrame({"age": [30.0, 50.0, None], "id": 1}).to_parquet("data.parquet")
    return tmp_path


def test_it_prints_the_labels_in_the_order_of_the_rows(folder, monkeypatch, capsys):
    assert run(monkeypatch, "predict", "model.json", "data.csv") == 0
    printed = capsys.readouterr()
    assert printed.out == "prediction\nlow\nhigh\nlow\nlow\nhigh\n"
    assert printed.err == ""


def test_probabilities(folder, monkeypatch, capsys):
    assert run(monkeypatch, "predict", "model.json", "data.parquet", "--proba") == 0
    assert capsys.readouterr().out == (
        "prediction,probability of low,probability of high\n"
        "low,0.75,0.25\nhigh,0.125,0.875\nlow,0.75,0.25\n"
    )
    model(probability=False).save("model.json")
    assert run(monkeypatch, "predict", "model.json", "data.parquet", "--proba") == 0
    assert "\nlow,1,0\nhigh,0,1\n" in capsys.readouterr().out


def test_it_writes_csv_or_parquet(folder, monkeypatch, capsys):
    for output in ("out.csv", "out.PARQUET"):
        assert run(monkeypatch, "predict", "model.json", "data.csv", "-o", output, "--proba") == 0
    assert capsys.readouterr() == ("", "")
    found = pd.read_csv("out.csv")
    assert list(found["prediction"]) == ["low", "high", "low", "low", "high"]
    written = pq.ParquetFile("out.PARQUET").read()
    assert written.column_names == ["prediction", "probability of low", "probability of high"]
    pd.testing.assert_frame_equal(found, written.to_pandas(), check_dtype=False)


def test_several_files_in_order(folder, monkeypatch, capsys):
    (folder / "parts").mkdir()
    for name, age in (("b", 90), ("a", 10), ("c", 91)):
        (folder / "parts" / f"{name}.csv").write_text(f"age\n{age}\n\n")
    assert run(monkeypatch, "predict", "model.json", "parts", "data.csv") == 0
    found = "".join(line[0] for line in capsys.readouterr().out.split()[1:])
    assert found == "ll" + "hl" + "hl" + "lhllh"  # a blank line is a row where a row is one value


@pytest.mark.parametrize(
    ("classes", "printed"),
    [
        ([0, 1], ["0", "1"]),
        ([0.5, 1.5], ["0.5", "1.5"]),
        ([False, True], ["false", "true"]),
        ([10**400, 1], [str(10**400), "1"]),
        (["", 'a "quoted", one\n'], ["", 'a "quoted", one\n']),
        (["ü", " b"], ["ü", " b"]),
    ],
)
def test_labels_of_every_kind(folder, monkeypatch, capsys, classes, printed):
    model(classes).save("model.json")
    assert run(monkeypatch, "predict", "model.json", "data.csv", "--proba") == 0
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out, newline="")))
    assert rows[0][1:] == [f"probability of {label}" for label in printed]
    assert [row[0] for row in rows[1:]] == [printed[i] for i in (0, 1, 0, 0, 1)]
    assert run(monkeypatch, "predict", "model.json", "data.csv", "-o", "out.parquet") == 0
    column = pq.ParquetFile("out.parquet").read().column("prediction").to_pylist()
    if classes[0] != 10**400:
        assert column == [classes[i] for i in (0, 1, 0, 0, 1)]


def test_it_predicts_what_the_model_does(folder, monkeypatch, random_tree):
    rng = random.Random(5)
    for _ in range(20):
        tree = random_tree(rng)
        other = Model(tree.schema, tree, PrivacyStatement("by hand", 1.0, public=()))
        other.save("model.json")
        frame = pd.DataFrame(
            {
                name: rng.choices(list(feature.categories), k=50)
                if isinstance(feature, Categorical)
                else [rng.uniform(feature.low - 1, feature.high + 1) for _ in range(50)]
                for name, feature in tree.schema.features.items()
            }
        )
        frame.to_csv("data.csv", index=False, quoting=csv.QUOTE_ALL)
        arguments = ("model.json", "data.csv", "--multiline", "-o", "out.parquet")
        assert run(monkeypatch, "predict", *arguments) == 0
        found = pq.ParquetFile("out.parquet").read().column("prediction").to_pylist()
        np.testing.assert_array_equal(found, other.predict(frame))


LAST = {"plain": "d,50", "quoted": '"d, e",50', "ragged": "d,50,more"}


@pytest.mark.parametrize("end", [".csv", ".parquet", None])
@pytest.mark.parametrize("last", LAST)
def test_files_are_read_once_some_rows_at_a_time(folder, monkeypatch, capsys, end, last):
    (folder / "data.csv").write_text("id,age\n" + "c,30\n" * 500 + LAST[last] + "\n")
    (folder / "more.csv").write_text("age,id\n60,f\n")
    arguments = ("model.json", "data.csv", "more.csv", "--keep", "id")
    real, read, written = csv_files.read_row_chunks, [], []

    def watched(stream, *how, **more):
        for chunk in real(stream, *how, **more):
            read.append(stream)
            yield chunk

    monkeypatch.setattr(csv_files, "read_row_chunks", watched)
    for size in (2**20, 100):
        monkeypatch.setattr(csv_rows, "CHUNK_BYTES", size)
        output = ["-o", f"out{end}"] if end else []
        code = run(monkeypatch, "predict", *arguments, *output)
        assert code == (2 if last == "ragged" else 0)
        printed = capsys.readouterr()
        assert ("row 502, blank lines not counted" in printed.err) == (last == "ragged")
        files = sorted(path.name for path in folder.iterdir() if path.name.startswith("out"))
        assert bool(files) == bool(end and not code)  # all of it, or nothing
        written.append(printed.out.encode() + b"".join((folder / f).read_bytes() for f in files))
    assert written[0] == written[1]
    assert bool(written[0]) == (not code)
    assert len(read) > 20
    assert len({id(stream) for stream in read}) <= 4  # two files, twice


def test_kept_columns_of_several_types_are_one(folder, monkeypatch, capsys):
    for name, ids in (("a", pd.array([1, 2], "int32")), ("b", [2**40, 0])):
        pd.DataFrame({"age": [30.0, 50.0], "id": ids}).to_parquet(f"part-{name}.parquet")
    arguments = ("model.json", "part-a.parquet", "part-b.parquet", "--keep", "id")
    assert run(monkeypatch, "predict", *arguments) == 0
    assert capsys.readouterr().out == f"id,prediction\n1,low\n2,high\n{2**40},low\n0,high\n"
    pd.DataFrame({"age": [30.0], "id": [b"x"]}).to_parquet("part-b.parquet")
    assert run(monkeypatch, "predict", *arguments) == 2
    assert capsys.readouterr() == (
        "",
        "privatree: a column must have the same type in all files, but one column has different "
        "types. Convert it to one type in all files.\n",
    )


def test_a_column_that_is_kept_and_used_is_as_it_was(folder, monkeypatch):
    pd.DataFrame({"age": pd.array([30, 50], "int8")}).to_parquet("data.parquet")
    arguments = ("model.json", "data.parquet", "--keep", "age", "-o", "out.parquet")
    assert run(monkeypatch, "predict", *arguments) == 0
    written = pq.ParquetFile("out.parquet").read()
    assert str(written.schema.field("age").type) == "int8"
    assert written.column("prediction").to_pylist() == ["low", "high"]


def test_no_rows(folder, monkeypatch, capsys):
    (folder / "data.csv").write_text("age\n")
    assert run(monkeypatch, "predict", "model.json", "data.csv", "--proba") == 0
    assert capsys.readouterr().out == "prediction,probability of low,probability of high\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no.json", "data.csv"], "no.json: No such file or directory.\n"),
        (["data.csv", "data.csv"], "data.csv: a model file must be JSON, but is not (Expecting "
         "value: line 1 column 1 (char 0)).\n"),
        (["model.json", "no.csv"], "no.csv: No such file or directory.\n"),
        (["model.json", "model.json"], "must end in .csv or .tsv (also .gz or .zst), .xlsx, "
         ".parquet or .pq. Rename or convert the file.\n"),
        (["model.json", "ragged.csv"], "ragged.csv: row 3, blank lines not counted, must have 2 "
         "values, as the first row has, got 1. Fix or remove the row.\n"),
        (["model.json", "other.csv"], "other.csv: must have every needed column, but lacks 'age'. "
         "Its first row must name the columns.\n"),
        (["model.json", "data.csv", "-o", "out.txt"], "out.txt: the name must end in .csv or "
         ".parquet. Choose another.\n"),
        (["model.json", "data.csv", "-o", "data.csv"], "another output.\n"),
        (["model.json", "data.csv", "-o", "no/out.csv"], "there is no folder no. Create it "
         "first.\n"),
        (["model.json"], "Missing argument DATA. See privatree predict --help.\n"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_and_exit_code_2(folder, monkeypatch, capsys, arguments, message):
    (folder / "ragged.csv").write_text("age,x\n1,2\n3\n")
    (folder / "other.csv").write_text("size\n1\n")
    before = (folder / "data.csv").read_bytes()
    assert run(monkeypatch, "predict", *arguments) == 2
    printed = capsys.readouterr()
    assert printed.err.endswith(message)
    assert printed.err.startswith("privatree: ")
    assert printed.err.count("\n") == 1
    assert printed.out == ""
    assert (folder / "data.csv").read_bytes() == before


def test_categories_of_numbers_in_text(folder, monkeypatch, capsys):
    model(feature=Categorical([1, 2])).save("model.json")
    (folder / "data.csv").write_text("age\n1\n2.0\n 2\n3\n")
    assert run(monkeypatch, "predict", "model.json", "data.csv") == 0
    assert capsys.readouterr().out.split() == ["prediction", "low", "high", "high", "low"]


@pytest.mark.slow
def test_a_reader_that_stops_early(folder):
    (folder / "data.csv").write_text("age\n" + "30\n" * 200_000)
    command = f"{sys.executable} -m privatree predict model.json data.csv | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert done.stdout == "prediction\n"
    assert done.stderr == ""


def test_help_teaches(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "200")
    assert run(monkeypatch, "predict", "--help") == 0
    out = capsys.readouterr().out
    for words in ("Example: privatree predict", "not private", "probability of LABEL"):
        assert words in out
