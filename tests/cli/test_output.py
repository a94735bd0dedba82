"""What tells of records is for its owner only; what is to be published is as other files are."""

import os
import stat

import pandas as pd
import pytest
from run_command import run

from privatree import Numeric, PrivaTreeClassifier, Schema
from privatree.cli._output import check_output
from privatree.errors import ParameterError
from privatree.robustness import accuracy_certificate

SCHEMA = Schema({"age": Numeric(0, 100)}, ["no", "yes"])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = os.umask(0o022)
    frame = pd.DataFrame({"age": [20, 80] * 20})
    labels = ["no", "yes"] * 20
    frame.assign(ill=labels).to_csv("data.csv", index=False)
    SCHEMA.to_toml("schema.toml")
    learner = PrivaTreeClassifier(1.0, schema=SCHEMA, random_state=0)
    learner.fit(frame, labels).save("model.json")
    accuracy_certificate(
        learner, frame, labels, frame, labels, poisoned=[1], refits=2, n_jobs=1, progress=False
    ).save("certificate.json")
    yield tmp_path
    os.umask(before)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "file", "mode"),
    [
        ("schema draft data.csv --target ill -o draft.toml", "draft.toml", 0o600),
        ("predict model.json data.csv --keep age -o out.csv", "out.csv", 0o600),
        ("report model.json --certificate certificate.json -o a.html", "a.html", 0o600),
        ("show model.json", "certificate.json", 0o600),
        ("report model.json -o a.html", "a.html", 0o644),
        ("export model.json -o a.sql", "a.sql", 0o644),
        ("show model.json", "model.json", 0o644),
    ],
)
def test_modes(folder, monkeypatch, command, file, mode):
    assert run(monkeypatch, *command.split()) == 0
    assert stat.S_IMODE((folder / file).stat().st_mode) == mode


def test_a_link_that_leads_to_itself_is_refused(tmp_path):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(ParameterError, match=r"loop: "):
        check_output(loop, [])
