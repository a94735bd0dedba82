"""What all commands say that take an epsilon for records."""

import json

import pytest
from mixed_records import schema_of, some_records
from run_command import run

from privatree.cli._learner_options import name_learner_options
from privatree.errors import ParameterError

FIT = ("fit", "data.csv", "--target", "label", "--schema", "schema.toml", "-o", "model.json")
CERTIFY = (
    "certify", "data.csv", "--target", "label", "--schema", "schema.toml",
    "--refits", "2", "--jobs", "1", "--poisoned", "1",
)  # fmt: skip
COMMANDS = {
    "fit": FIT,
    "fit, as JSON": (*FIT, "--json"),
    "certify": CERTIFY,
    "certify, as JSON": (*CERTIFY, "--json"),
    "budget": ("budget", "create", "records.db"),
}


@pytest.fixture
def run_beside_data(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame, labels = some_records(100, 2, 0)
    frame.assign(label=labels).to_csv("data.csv", index=False)
    schema_of(2).to_toml("schema.toml")

    return lambda *arguments: (run(monkeypatch, *arguments), *capsys.readouterr())


def test_an_error_names_the_option_of_its_parameter():
    options = ["max_depth", "random_state"]

    def named(error):
        with pytest.raises(ParameterError) as raised, name_learner_options(options):
            raise error
        return str(raised.value), raised.value.parameter

    depth = ParameterError("max_depth (if not None) must be 1, got 2.", "max_depth")
    assert named(depth) == ("--max-depth must be 1, got 2.", "max_depth")
    seed = ParameterError("random_state must be 1.", "random_state")
    assert named(seed) == ("--seed must be 1.", "random_state")
    for kept in (ParameterError("max_depth must be 1."), ParameterError("n must be 1.", "n")):
        assert named(kept) == (str(kept), kept.parameter)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_large_epsilon_is_warned_of(run_beside_data, command):
    code, out, err = run_beside_data(*COMMANDS[command], "--epsilon", "20")
    (line,) = [line for line in err.splitlines() if line.startswith("Warning")]
    assert code == 0
    assert line.startswith("Warning: --epsilon 20 gives hardly any privacy: ")
    assert "e^20 times" in line
    assert "0.01 to 1" in line
    assert "hardly" not in out
    assert not command.endswith("JSON") or json.loads(out)


@pytest.mark.parametrize("command", ["fit", "certify", "budget"])
def test_up_to_ten_there_is_no_warning(run_beside_data, command):
    code, _, err = run_beside_data(*COMMANDS[command], "--epsilon", "10")
    assert code == 0
    assert "Warning" not in err


@pytest.mark.parametrize("command", [(*FIT, "--lookahead", "9"), (*CERTIFY, "--confidence", "2")])
def test_beside_a_mistake_there_is_no_warning(run_beside_data, command):
    code, out, err = run_beside_data(*command, "--epsilon", "20")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "hardly" not in err
