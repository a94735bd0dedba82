"""Every script in ``examples/`` runs, leaves its folder as it was, and prints what it promises."""

import contextlib
import io
import re
import runpy
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from privatree import Schema

EXAMPLES = Path(__file__).parents[2] / "examples"
PROMISES = {
    "audit_a_broken_learner": r"the claim of 1 is false(?s:.*)does not contradict the claim of 1",
    "beside_scikit_learn": r"epsilon 1\.0 +0\.8\d\d\nwithout privacy +0\.84\d\n$",
    "larger_than_memory": r"^\d passes .* depth \d\nthe same as in memory: True\n.* 8\d% of the",
    "make_patients": r"^$",
    "one_budget": r"5 folds: .* left 1\.5\ngrid search: 7 fits, .* left 0\.8\nrefused: .*\n\[0\.1",
    "own_schema": r"earlier_admissions <= \d+\n(?s:.*)\n\['\w+' '\w+' '\w+'\]\n$",
    "poisoning_certificate": r"poisoned records that leave 60%: \d+\n10 edits",
    "predict_a_number": r"R2 of the tree +0\.[12]\d\nR2 of the ensemble +0\.2\d\n(?s:.*)"
    r"loaded, the same +True\n(?s:.*)hours; with ten poisoned records from",
    "predict_in_sql": r"SQLite agrees: True\nDuckDB agrees: True\n$",
    "probabilities": r"0\.0 +0\.8\d\d .*\n +0\.1 +0\.8\d\d .* \d+\n",
    "quick_start": r"epsilon for a whole record  0\.1\n(?s:.*)right for 8\d% of the records",
    "report_and_card": r"^If .*\n(?s:.*)Wrote report.html, card.md and tree.svg\.\n$",
    "several_visits": r"one patient_id(?s:.*)\nby visits: .*\nby patients: .*\nbalanced: ",
    "shapes_beside_ebm": r"^our AUC     0\.9\d\d\n(AUC DP-EBM .*\n)?Wrote shapes.svg\.\n$",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PROMISES))
def test_an_example_runs(name, tmp_path, monkeypatch):
    """In a folder of its own, with the files that lie beside it."""
    monkeypatch.setenv("MPLBACKEND", "agg")
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr("sys.argv", [f"{name}.py"])
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(tmp_path / "examples" / f"{name}.py"), run_name="__main__")
    assert re.search(PROMISES[name], printed.getvalue()), printed.getvalue()
    assert _content(tmp_path / "examples") == _content(EXAMPLES)


def _content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_every_script_is_run_and_says_what_it_shows():
    scripts = {path.stem: path.read_text() for path in EXAMPLES.glob("*.py")}
    assert scripts.keys() == PROMISES.keys()
    listed = (EXAMPLES / "README.md").read_text()
    for name, text in scripts.items():
        assert f"| `{name}.py` |" in listed
        assert f"python examples/{name}.py" in text.partition('"""')[2].partition('"""')[0], name
        assert text.count("\n") <= 70, f"{name}: more than a page"


def test_the_patients_are_those_of_the_script():
    made = runpy.run_path(str(EXAMPLES / "make_patients.py"))["patients"]()
    pd.testing.assert_frame_equal(made, pd.read_csv(EXAMPLES / "patients.csv"), check_dtype=False)
    assert np.isclose(made["haemoglobin"].isna().mean(), 0.12, atol=0.03)


def test_the_schema_of_the_patients_is_that_of_the_quickstart(tmp_path):
    page = (EXAMPLES.parent / "docs" / "quickstart.md").read_text()
    written = re.search(r'^```toml title="patients.toml"\n(.*?)^```$', page, re.DOTALL | re.M)[1]
    (tmp_path / "patients.toml").write_text(written)
    schema = Schema.from_toml(tmp_path / "patients.toml")
    assert schema == Schema.from_toml(EXAMPLES / "patients.toml")
    assert not schema.unconfirmed
