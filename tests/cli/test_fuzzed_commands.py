"""Whatever is typed: one clear line and exit code 2, or it works; nothing is half written."""

import json
import sys

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from privatree import Categorical, Numeric, PrivaTreeClassifier, Schema
from privatree.cli._app import main
from privatree.robustness import accuracy_certificate

FRAME = pd.DataFrame({"age": [20, 30, 40, 50] * 10, "ward": ["a", "b", "a", "b"] * 10})
LABELS = ["no", "no", "yes", "yes"] * 10
FIT = ["--target", "outcome", "--schema", "schema.toml", "--epsilon", "1", "-o", "new.json"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One good file of each kind, and many bad ones."""
    place = tmp_path_factory.mktemp("fuzzed")
    schema = Schema({"age": Numeric(0, 100), "ward": Categorical(["a", "b"])}, ["no", "yes"])
    schema.to_toml(place / "schema.toml")
    learner = PrivaTreeClassifier(1.0, schema=schema, random_state=0)
    learner.fit(FRAME, LABELS).save(place / "model.json")
    accuracy_certificate(
        learner, FRAME, LABELS, FRAME, LABELS, poisoned=[1], refits=4, n_jobs=1, progress=False
    ).save(place / "certificate.json")
    table = FRAME.assign(outcome=LABELS)
    table.to_csv(place / "data.csv", index=False)
    table.to_parquet(place / "data.parquet")
    text = (place / "data.csv").read_text()
    (place / "utf16.csv").write_text(text, encoding="utf-16")
    (place / "empty.csv").write_bytes(b"")
    (place / "header.csv").write_text("age,ward,outcome\n")
    (place / "other.csv").write_text("height,colour\n1,red\n")
    (place / "binary.csv").write_bytes(bytes(range(256)) * 20)
    (place / "broken.csv.gz").write_bytes(b"\x1f\x8b\x08 not gzip")
    (place / "broken.parquet").write_bytes(b"PAR1 not parquet PAR1")
    model = (place / "model.json").read_text()
    (place / "cut.json").write_text(model[: len(model) // 2])
    (place / "other.json").write_text('{"format": "something else"}')
    (place / "empty.json").write_text("")
    (place / "deep.json").write_text("[" * 10_000)
    (place / "broken.toml").write_text("classes = [")
    (place / "wrong.toml").write_text('classes = ["no", "yes"]\n[features.age]\nkind = "magic"\n')
    (place / "folder").mkdir()
    return place


@pytest.fixture
def run(folder, monkeypatch, capfd):
    """Run a command; what a mistake must look like is checked for every one."""
    monkeypatch.chdir(folder)

    def run(*arguments):
        before = snapshot(folder)
        monkeypatch.setattr(sys, "argv", ["privatree", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        printed = capfd.readouterr()
        code = stopped.value.code or 0
        assert code in (0, 2), (arguments, code, printed)
        assert "Traceback" not in printed.err
        if code == 2:
            assert printed.err.startswith("privatree: "), (arguments, printed)
            assert printed.err.count("\n") == 1, (arguments, printed)
            assert printed.err.rstrip().endswith((".", "?")), printed.err
            assert printed.out == "", (arguments, printed)
            assert snapshot(folder) == before, arguments
        else:
            for path in set(folder.iterdir()) - {folder / name for name in before}:
                path.unlink()
        return code, printed.err

    return run


def snapshot(folder):
    return {path.name: path.read_bytes() if path.is_file() else None for path in folder.iterdir()}


BAD_DATA = [
    "missing.csv",
    "no/such/folder/*.csv",
    "folder",
    "empty.csv",
    "utf16.csv",
    "other.csv",
    "binary.csv",
    "broken.csv.gz",
    "broken.parquet",
    "model.json",
    "schema.toml",
    "",
    "\0",
    "x" * 5000,
]
BAD_MODELS = [
    "missing.json",
    "folder",
    "cut.json",
    "other.json",
    "empty.json",
    "deep.json",
    "data.csv",
    "data.parquet",
    "certificate.json",
    "",
    "\0",
    "x" * 5000,
]
BAD_SCHEMAS = ["missing.toml", "folder", "broken.toml", "wrong.toml", "data.csv", "data.parquet"]
BAD_OUTPUTS = ["folder", "no/such/file.json", "/proc/file.json", "data.csv/file.json", "", "\0"]
BAD_EPSILONS = ["0", "-1", "nan", "inf", "-inf", "1e999", "one", "", "1,5", "0x10", "1e-400"]


@pytest.mark.slow
@pytest.mark.parametrize("data", BAD_DATA, ids=lambda path: ascii(path)[:20])
def test_bad_data(run, data):
    assert run("fit", data, *FIT)[0] == 2
    assert run("predict", "model.json", data, "-o", "new.csv")[0] == 2
    assert run("certify", data, *FIT[:-2], "--refits", "2")[0] == 2
    known = ("--encoding", "utf-8") if data.endswith(".csv") else ()  # else it finds out
    draft = ("schema", "draft", data, "--target", "outcome", "-o", "new.toml")
    assert run(*draft, *known)[0] == 2
    assert run("schema", "check", "schema.toml", data, "--target", "outcome")[0] == 2


@pytest.mark.slow
@pytest.mark.parametrize("model", BAD_MODELS, ids=lambda path: ascii(path)[:20])
def test_bad_models(run, model):
    for command in (
        ("show", model),
        ("show", model, "--json"),
        ("predict", model, "data.csv", "-o", "new.csv"),
        ("report", model, "-o", "new.html"),
        *(("export", model, "--format", form, "-o", "new.x") for form in ("text", "sql", "onnx")),
    ):
        assert run(*command)[0] == 2, command


@pytest.mark.parametrize("schema", BAD_SCHEMAS)
def test_bad_schemas(run, schema):
    assert run("fit", "data.csv", *FIT[:2], "--schema", schema, *FIT[4:])[0] == 2
    assert run("certify", "data.csv", *FIT[:2], "--schema", schema, *FIT[4:6])[0] == 2
    assert run("schema", "check", schema, "data.csv", "--target", "outcome")[0] == 2


@pytest.mark.parametrize("output", BAD_OUTPUTS, ids=ascii)
def test_outputs_that_cannot_be_written(run, output):
    for command in (
        ("fit", "data.csv", *FIT[:-1], output),
        ("predict", "model.json", "data.csv", "-o", output),
        ("report", "model.json", "-o", output),
        ("export", "model.json", "--format", "sql", "-o", output),
        ("schema", "draft", "data.csv", "--target", "outcome", "-o", output),
        ("demo", "-o", output),
        ("budget", "create", output, "--epsilon", "1"),
        ("certify", "data.csv", *FIT[:-2], "-o", output),
        ("audit", "privatree", "--epsilon", "1", "-o", output),
    ):
        assert run(*command)[0] == 2, command


@pytest.mark.parametrize("epsilon", BAD_EPSILONS)
def test_bad_epsilons(run, epsilon):
    for command in (
        ("fit", "data.csv", *FIT[:5], epsilon, *FIT[6:]),
        ("demo", "--epsilon", epsilon),
        ("certify", "data.csv", *FIT[:5], epsilon),
        ("audit", "privatree", "--epsilon", epsilon),
        ("budget", "create", "new.db", "--epsilon", epsilon),
        ("reproduce", "accuracy", "--epsilon", epsilon.replace(",", ";") or ";", "-o", "new"),
    ):
        code, line = run(*command)
        assert code == 2, command
        assert "epsilon" in line, line


@pytest.mark.parametrize("delta", ["1", "7.5", *BAD_EPSILONS[1:-1]])
def test_bad_deltas(run, delta):
    code, line = run("budget", "create", "new.db", "--epsilon", "1", "--delta", delta)
    assert code == 2
    assert "delta" in line, line


@pytest.mark.parametrize("epsilon", ["1e-300", "5e-324", "1e-9", "1e9", "1e300", "1.7e308"])
def test_huge_and_tiny_epsilons_train_or_are_refused(run, epsilon):
    code, line = run("fit", "data.csv", *FIT[:5], epsilon, *FIT[6:], "-q")
    assert code == 0 or "epsilon" in line


def test_a_file_is_not_read_and_written(run):
    assert run("fit", "data.csv", *FIT[:-1], "data.csv")[0] == 2
    assert run("fit", "data.csv", *FIT[:-1], "schema.toml")[0] == 2
    assert run("predict", "model.json", "data.csv", "-o", "data.csv")[0] == 2
    assert run("report", "model.json", "-o", "model.json")[0] == 2
    assert run("export", "model.json", "--format", "json", "-o", "model.json")[0] == 2


def test_no_record_at_all_trains_but_is_not_certified(run):
    """An error would tell a table with one record from that without it."""
    assert run("fit", "header.csv", *FIT)[0] == 0
    assert run("certify", "header.csv", *FIT[:-2])[0] == 2


def test_a_misspelt_column_is_named(run):
    code, line = run("fit", "data.csv", "--target", "outcom", *FIT[2:])
    assert code == 2
    assert "'outcom'" in line
    assert "Did you mean 'outcome'?" in line


VOCABULARY = """
fit predict show report export schema draft check certify audit budget create charges demo
reproduce data.csv data.parquet model.json schema.toml certificate.json cut.json folder outcome age
ward --target --schema --epsilon 1 0.5 -1 nan -o new.json new.csv new.html new.onnx new.db --format
sql onnx text dot json card --proba --infer-schema --max-depth 0 3 none --lookahead 9 auto --seed
--json --quiet -q --help --version --poisoned 1% 1,2 --refits 2 --certificate --keep --budget
--dataset-size private --delta 1e-6
"""
WORDS = st.one_of(st.sampled_from(VOCABULARY.split()), st.text(max_size=6))
SLOW = {"demo", "audit", "reproduce"}


@pytest.mark.slow
@settings(
    max_examples=50,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    command=st.sampled_from(
        ["fit", "predict", "show", "report", "export", "schema", "certify", "budget", "x", ""]
    ),
    words=st.lists(WORDS, max_size=9),
)
def test_any_words(run, command, words):
    if SLOW.isdisjoint(words) and "--install-completion" not in words:
        run(command, *words)


@pytest.mark.slow
@settings(
    max_examples=40,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.data())
def test_models_with_a_byte_changed(run, folder, data):
    """Whatever is changed in a file, it is used as it is or refused in one line."""
    good = (folder / "model.json").read_bytes()
    place = data.draw(st.integers(0, len(good) - 1))
    changed = good[:place] + data.draw(st.binary(max_size=3)) + good[place + 1 :]
    (folder / "changed.json").write_bytes(changed)
    try:
        code, _ = run("show", "changed.json")
        if code == 0:
            json.loads(changed)
    finally:
        (folder / "changed.json").unlink()
