"""On a terminal nothing is obeyed or hidden that stands in a file; files and pipes get it exactly.

The standard output is a real terminal here, the slave of a pty; what arrives at its other end is
what a person would see.
"""

from __future__ import annotations

import json
import math
import os
import pty
import sys
import threading
import tomllib
import tty
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from privatree import Categorical, Model, Numeric, Schema
from privatree.cli._app import main
from privatree.export import export_json, export_sql
from privatree.model import TreeBuilder
from privatree.privacy import BudgetStore, Leak, PrivacyStatement, Spend

EVIL = "a\x1b[2J\x1b]0;owned\x07\x9b31m\u202e\u2066\u200b\x7f\U000e0041b"
"""Clears the screen, sets the title, in one and two bytes; turns text round; is not seen."""
SIGNS = st.sampled_from("\x1b\x07\x08\r\x7f\x85\x9b\u200b\u200e\u202e\u2028\u2066\ufeff\U000e0041")
TEXTS = st.text(SIGNS | st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)


def on_a_terminal(*arguments: str) -> tuple[int, str]:
    """Run a command; its exit code and what the terminal got."""
    master, slave = pty.openpty()
    tty.setraw(slave)  # so that it changes no line breaks
    got = bytearray()

    def read() -> None:
        try:
            while chunk := os.read(master, 65536):
                got.extend(chunk)
        except OSError:  # how Linux says that the other side was closed
            return

    reader = threading.Thread(target=read)
    reader.start()
    with pytest.MonkeyPatch.context() as patch, os.fdopen(slave, "w", encoding="utf-8") as screen:
        patch.setattr(sys, "stdout", screen)
        patch.setenv("TERM", "dumb")  # no styles of our own
        patch.setattr(sys, "argv", ["privatree", *arguments])
        with pytest.raises(SystemExit) as stopped:
            main()
    reader.join()
    os.close(master)
    return stopped.value.code or 0, got.decode()


def is_visible(text: str) -> bool:
    return text.replace("\n", "").isprintable()


def evil_model(text: str) -> Model:
    """A file of a stranger: the text stands wherever one can."""
    features = {
        f"name {text}": Categorical([f"first {text}", f"second {text}"]),
        "age": Numeric(0, 100),
    }
    schema = Schema(features, [f"no {text}", f"yes {text}"])
    builder = TreeBuilder(schema)
    left, right = builder.split_categories(builder.root, 0, [0])
    builder.leaf(left, 0, [0.75, 0.25])
    for code, leaf in enumerate(builder.split_numeric(right, 1, 40.0)):
        builder.leaf(leaf, code, [0.5, 0.5])
    privacy = PrivacyStatement(
        text,
        epsilon=math.inf,  # as there are leaks
        public=(text,),
        leaks=(Leak(text, text),),
        notes=(text,),
        spends=(Spend(text, Fraction(1), text),),
    )
    return Model(schema, builder.build(), privacy)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


FORMS = ("text", "dot", "json", "sql", "card")
COMMANDS = [
    ["show", "model.json"],
    ["show", "model.json", "--json"],
    *(["export", "model.json", "-f", form] for form in FORMS),
    ["export", "model.json", "-f", "sql", "--dialect", "mysql", "--table", EVIL, "--proba"],
    ["predict", "model.json", "data.csv", "--proba", "--keep", "id"],
    ["predict", "model.json", "data.csv", "--safe-for-spreadsheets", "--keep", "id"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[:4]))
def test_a_model_file(folder, capsys, command):
    evil_model(EVIL).save("model.json")
    pd.DataFrame({f"name {EVIL}": [EVIL], "age": [1], "id": [EVIL]}).to_csv("data.csv", index=False)
    code, got = on_a_terminal(*command)
    assert code == 0
    assert is_visible(got)
    assert is_visible(capsys.readouterr().err)
    assert "1b" in got


@pytest.mark.slow
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=TEXTS, command=st.sampled_from(COMMANDS[:9]))
def test_whatever_a_model_file_holds(folder, text, command):
    evil_model(text).save("model.json")
    frame = pd.DataFrame({f"name {text}": ["x", text], "age": [1, 50], "id": ["1", "2"]})
    frame.to_csv("data.csv", index=False, lineterminator="\n")
    code, got = on_a_terminal(*command)
    assert is_visible(got)
    # A name with line breaks can be one that a CSV file does not have: then the command says so.
    assert code == 0 or command[0] == "predict"


def test_json_on_a_terminal_means_the_same(folder, capsys):
    model = evil_model(EVIL)
    model.save("model.json")
    for command in (["show", "model.json", "--json"], ["export", "model.json", "-f", "json"]):
        code, got = on_a_terminal(*command)
        assert code == 0
        assert json.loads(got) == json.loads(export_json(model))
    assert capsys.readouterr().err == ""


def test_sql_on_a_terminal_says_that_it_is_not_exact(folder, capsys):
    evil_model(EVIL).save("model.json")
    assert on_a_terminal("export", "model.json", "-f", "sql")[0] == 0
    assert capsys.readouterr().err == (
        "Some characters would control the terminal or be invisible, so they are shown as escapes "
        "such as \\x1b. To get the exact text, write to a file: -o FILE.\n"
    )
    evil_model("plain ä").save("model.json")
    _, got = on_a_terminal("export", "model.json", "-f", "sql")
    assert got == export_sql(evil_model("plain ä")) + "\n"
    assert capsys.readouterr().err == ""


@pytest.fixture
def through_a_pipe(monkeypatch, capsysbinary) -> Callable[..., bytes]:
    """Runs a command whose output is no terminal; gives its bytes."""

    def run(*arguments: str) -> bytes:
        monkeypatch.setattr(sys, "argv", ["privatree", *arguments])
        with pytest.raises(SystemExit) as stopped:
            main()
        assert not stopped.value.code
        printed = capsysbinary.readouterr()
        assert printed.err == b""
        return printed.out

    return run


def test_files_and_pipes_get_the_exact_text(folder, through_a_pipe):
    model = evil_model(EVIL)
    model.save("model.json")
    pd.DataFrame({f"name {EVIL}": [EVIL], "age": [1], "id": [EVIL]}).to_csv("data.csv", index=False)
    exact = {"json": export_json(model).encode(), "sql": f"{export_sql(model)}\n".encode()}
    for form, written in exact.items():
        assert through_a_pipe("export", "model.json", "-f", form) == written
        assert through_a_pipe("export", "model.json", "-f", form, "-o", "out") == b""
        assert (folder / "out").read_bytes() == written
    predicted = through_a_pipe("predict", "model.json", "data.csv", "--keep", "id")
    assert predicted == f"id,prediction\n{EVIL},no {EVIL}\n".encode()
    through_a_pipe("predict", "model.json", "data.csv", "--keep", "id", "-o", "out.csv")
    assert (folder / "out.csv").read_bytes() == predicted


# --- commands that read records ------------------------------------------------------------------


@pytest.fixture
def records(folder):
    """A schema, records and files with the text, wherever one can stand."""
    schema = Schema(
        {f"name {EVIL}": Categorical([f"a {EVIL}", "b"]), "age": Numeric(0, 100)},
        [f"no {EVIL}", "yes"],
    )
    schema.to_toml("schema.toml")
    rows = 40
    frame = pd.DataFrame(
        {
            f"name {EVIL}": [f"a {EVIL}", "b", "c"][:2] * (rows // 2),
            "age": [20, 70] * (rows // 2),
            f"more {EVIL}": "x",
            "label": [f"no {EVIL}", "yes"] * (rows // 2),
        }
    )
    frame.to_csv("data.csv", index=False)
    odd = frame.copy()
    odd.iloc[0, 0] = f"unknown {EVIL}"
    odd.to_csv("odd.csv", index=False)
    frame[:2].to_csv("two.csv", index=False)
    frame[1:2].to_csv("one.csv", index=False)
    return folder


FIT = ["fit", "data.csv", "--target", "label", "--schema", "schema.toml", "--epsilon", "50"]
CERTIFY = ["certify", "data.csv", *FIT[2:6], "--epsilon", "1", "--refits", "2", "--jobs", "1"]
AUDIT = ["audit", "decision-tree", "--epsilon", "1", "--data", "two.csv", "--neighbour", "one.csv",
         *FIT[2:6], "--runs", "100", "--jobs", "1"]  # fmt: skip
"""A method without privacy, so that there is something to tell."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        [*FIT, "-o", f"{EVIL[-3:]}.json"],
        [*FIT, "-o", f"{EVIL[:4]}.json", "--json"],
        [*FIT[:4], "--infer-schema", "--epsilon", "1", "-o", "model.json"],
        CERTIFY,
        [*CERTIFY, "--json"],
        AUDIT,
        [*AUDIT, "--json"],
        ["schema", "check", "schema.toml", "odd.csv", "--target", "label"],
        ["schema", "check", "schema.toml", "odd.csv", "--target", "label", "--json"],
        ["schema", "draft", "data.csv", "--target", "label"],
    ],
    ids=lambda command: " ".join([*command[:2], command[4], command[-1]]),
)
def test_commands_that_read_records(records, capsys, command):
    code, got = on_a_terminal(*command)
    err = capsys.readouterr().err
    assert code == 0, err
    assert is_visible(got)
    assert is_visible(err)
    if command[-1] == "--json":
        json.loads(got)
    assert "1b" in got or command[0] == "certify"


def test_a_draft_on_a_terminal_means_the_same(records, through_a_pipe):
    command = ["schema", "draft", "data.csv", "--target", "label"]
    code, got = on_a_terminal(*command)
    assert code == 0
    assert tomllib.loads(got) == tomllib.loads(through_a_pipe(*command).decode())


def test_a_model_that_could_not_be_saved(records, capsys, monkeypatch):
    """It is printed, because it cost epsilon; a terminal shows JSON that means the same."""
    monkeypatch.setattr(Model, "save", _full_disk)
    code, got = on_a_terminal(*FIT, "-o", "model.json")
    assert code == 2
    assert is_visible(got)
    assert json.loads(got)["format"] == "privatree-model"


def _full_disk(*_: Any) -> None:
    raise OSError(28, "No space left on device")


def test_budgets(folder):
    store = BudgetStore.create("b.db", 2.0, neighbours="add-remove", dataset=EVIL)
    assert isinstance(store, BudgetStore)
    for command in (["show"], ["show", "--json"], ["charges"], ["charges", "--json"]):
        code, got = on_a_terminal("budget", command[0], "b.db", *command[1:])
        assert code == 0
        assert is_visible(got)


def test_mistakes(folder, capsys):
    evil_model(EVIL).save("model.json")
    pd.DataFrame({"x": [1]}).to_csv("data.csv", index=False)
    code, got = on_a_terminal("predict", "model.json", "data.csv")
    assert (code, got) == (2, "")
    assert is_visible(capsys.readouterr().err)
