"""Where ``privatree fit`` counts makes no difference, and is said if it was chosen for the user."""

import json

import duckdb
import pandas as pd
import pytest
from mixed_records import schema_of, some_records
from run_command import run

from privatree.sources import _memory_estimate as room
from privatree.sources._source import BatchSource, Source
from privatree.sources.csv import _csv_file as csv_files


def fit(monkeypatch, *arguments):
    given = ("fit", "--target", "label", "--epsilon", "3", "-o", "model.json", "--seed", "1")
    return run(monkeypatch, *given, *arguments)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame, labels = some_records(400, 2, 0)
    whole = frame.assign(label=labels, note="secret-7431")
    whole.to_csv("data.csv", index=False)
    whole.to_parquet("data.parquet")
    duckdb.from_df(whole).write_parquet("folder", partition_by=["new"])
    schema_of(2).to_toml("schema.toml")
    return tmp_path


def content(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize("data", ["data.csv", "data.parquet", "folder"])
def test_every_engine_writes_the_same_model(folder, monkeypatch, capsys, data):
    models = []
    for engine in ("memory", "stream", "auto"):
        assert fit(monkeypatch, data, "--schema", "schema.toml", "--engine", engine) == 0
        models.append((folder / "model.json").read_bytes())
        assert "Streaming" not in capsys.readouterr().err
    assert models[0] == models[1] == models[2]


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_the_source_is_opened_and_the_first_row_read_once(folder, monkeypatch, engine):
    calls = []

    def watch(owner, name):
        real = getattr(owner, name)
        monkeypatch.setattr(
            owner, name, lambda *given, **more: calls.append(name) or real(*given, **more)
        )

    watch(Source, "open")
    watch(csv_files, "read_first_row")
    assert fit(monkeypatch, "data.csv", "--schema", "schema.toml", "--engine", engine) == 0
    assert calls == ["open", "read_first_row"]


def test_what_does_not_fit_is_streamed_and_that_is_said(folder, monkeypatch, capsys):
    held = []
    real = BatchSource.__init__

    def note(self, target, progress, in_memory, *more):
        held.append(in_memory)
        real(self, target, progress, in_memory, *more)

    monkeypatch.setattr(BatchSource, "__init__", note)
    for free, in_memory in ((1e9, True), (1000.0, False)):
        monkeypatch.setattr(room, "free_memory", lambda free=free: free)
        assert fit(monkeypatch, "data.parquet", "--schema", "schema.toml") == 0
        assert held.pop() is in_memory
        printed = capsys.readouterr()
        assert ("Streaming: the records would not fit comfortably" in printed.err) is not in_memory
        assert "Not in the schema, so ignored: 'note'." in printed.err
    assert fit(monkeypatch, "data.csv", "--schema", "schema.toml", "--json") == 0
    printed = capsys.readouterr()
    assert held == [False]
    assert "Streaming" not in printed.err, "nothing is said beside JSON"
    assert json.loads(printed.out)["privacy"]["epsilon"] == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--schema", "schema.toml", "--master", "local"), "--master must be used with --engine"),
        (("--infer-schema", "--engine", "stream"), "--engine stream must be used with --schema"),
        (("--infer-schema", "--engine", "spark"), "--engine spark must be used with --schema"),
        (("--schema", "schema.toml", "--engine", "disk"), "got 'disk'"),
    ],
)
def test_options_that_contradict_each_other(folder, monkeypatch, capsys, options, message):
    before = content(folder)
    assert fit(monkeypatch, "data.csv", *options) == 2
    assert message in capsys.readouterr().err
    assert content(folder) == before


def test_an_interrupt_leaves_one_charge_and_no_files(folder, monkeypatch, capsys):
    from privatree.privacy import BudgetStore

    BudgetStore.create("records.db", 100, dataset="records")
    before = content(folder)
    real = BatchSource._make_pass
    for interrupted, charges in ((1, 0), (2, 1)):

        def answer(self, question, advance, interrupted=interrupted):
            if self.n_passes == interrupted:
                raise KeyboardInterrupt
            return real(self, question, advance)

        monkeypatch.setattr(BatchSource, "_make_pass", answer)
        arguments = ("--schema", "schema.toml", "--engine", "stream", "--budget", "records.db")
        assert fit(monkeypatch, "data.parquet", *arguments, "--lookahead", "1") == 130
        assert len(BudgetStore("records.db").charges) == charges
        said = "There is no model, but epsilon 3 stays charged to records.db."
        assert (said in capsys.readouterr().err) is bool(charges)
        assert content(folder).keys() == before.keys(), "no model, nothing left behind"


def test_a_file_that_breaks_off_is_named_and_nothing_is_charged(folder, monkeypatch, capsys):
    from privatree.privacy import BudgetStore

    BudgetStore.create("records.db", 100, dataset="records")
    (folder / "parts").mkdir()
    whole = pd.read_parquet("data.parquet")
    for part in range(3):
        whole.to_parquet(f"parts/{part}.parquet", row_group_size=50)
    broken = folder / "parts" / "1.parquet"
    middle = bytearray(broken.read_bytes())
    middle[200:2000] = b"x" * 1800
    broken.write_bytes(middle)
    arguments = ("--schema", "schema.toml", "--engine", "stream", "--budget", "records.db")
    assert fit(monkeypatch, "parts", *arguments) == 2
    (line,) = [text for text in capsys.readouterr().err.splitlines() if "1.parquet" in text]
    assert "must be a complete Parquet file, but cannot be read to its end" in line
    assert not BudgetStore("records.db").charges
    assert not (folder / "model.json").exists()
