import re
import subprocess
import sys

import numpy as np
import pytest
from run_command import run

import privatree
from privatree import PaperPrivaTreeClassifier


@pytest.fixture
def saved(tmp_path):
    X = np.array([[0.0], [1.0]] * 50)
    with pytest.warns(privatree.PrivacyLeakWarning):
        model = PaperPrivaTreeClassifier(100.0, random_state=0).fit(X, [0, 1] * 50)
    path = tmp_path / "model.json"
    model.save(path)
    return path


@pytest.mark.slow
def test_demo_shows_tree_statement_and_scores(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "demo.json"
    assert run(monkeypatch, "demo", "--epsilon", "1", "-o", path) == 0
    printed = capsys.readouterr()
    assert "predict <=50K" in printed.out
    assert "Privacy statement of PrivaTreeClassifier" in printed.out
    assert "epsilon for a whole record  1\n" in printed.out
    assert "no guarantee" not in printed.out
    private = re.search(r"^  accuracy +([\d.]+)%  +[\d.]+% to [\d.]+%$", printed.out, re.MULTILINE)
    assert 80 < float(private[1]) < 88
    plain = re.findall(r"^  (.+?)  +accuracy ([\d.]+)%, AUC ([\d.]+)$", printed.out, re.MULTILINE)
    assert [name for name, *_ in plain] == [
        "a tree without privacy",
        "always the most frequent class",
    ]
    assert float(plain[0][1]) == pytest.approx(84, abs=2)
    assert (plain[1][1], plain[1][2]) == ("75.2", "0.500")
    assert "(exact figures: not private)\n  a tree" in printed.out
    assert printed.err == ""
    saved = privatree.load(path)
    assert saved.privacy_.epsilon == 1
    assert f"\n{saved.scores_}\n" in printed.out
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")


def test_show_prints_tree_and_statement(monkeypatch, capsys, saved):
    assert run(monkeypatch, "show", saved) == 0
    out = capsys.readouterr().out
    assert "x0 <=" in out
    assert "infinite: no guarantee" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "no-such-file.json"), "no-such-file.json: No such file or directory.\n"),
        (("demo", "--epsilon", "-1"), "privatree: --epsilon must be > 0, got -1.0.\n"),
        (
            ("demo", "--max-depth", "0"),
            "--max-depth must be an integer from 1 to 16, got 0.\n",
        ),
        (
            ("demo", "-o", "/no/such/folder/x.json"),
            "there is no folder /no/such/folder. Create it first.\n",
        ),
        (("demo", "--epsilon", "much"), "--epsilon must be a number. See privatree demo --help.\n"),
        (
            ("demo", "--max-depth", "deep"),
            "--max-depth must be a whole number. See privatree demo --help.\n",
        ),
        (
            ("export", "model.json", "-f", "sq"),
            "--format must be one of text, dot, json, sql, onnx, card, terms, got 'sq'. "
            "Did you mean 'sql'? See privatree export --help.\n",
        ),
        (
            ("reproduce", "runtim"),
            "poisoning-curve, backdoor, all, got 'runtim'. Did you mean 'runtime'? "
            "See privatree reproduce --help.\n",
        ),
        (("fit", "x.csv"), "Missing option '--target'. See privatree fit --help.\n"),
        (("dance",), "No such command 'dance'. See privatree --help.\n"),
        (("show",), "Missing argument MODEL. See privatree show --help.\n"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(monkeypatch, capsys, arguments, message):
    assert run(monkeypatch, *arguments) == 2
    err = capsys.readouterr().err
    assert err.endswith(message)
    assert err.count("\n") == 1


def test_a_broken_model_file_is_one_line(monkeypatch, capsys, tmp_path):
    path = tmp_path / "broken.json"
    path.write_text("{")
    assert run(monkeypatch, "show", path) == 2
    err = capsys.readouterr().err
    assert str(path) in err
    assert err.count("\n") == 1


def test_help_and_version(monkeypatch, capsys):
    assert run(monkeypatch, "--version") == 0
    assert capsys.readouterr().out == f"privatree {privatree.__version__}\n"
    assert run(monkeypatch) == 0
    usage = capsys.readouterr().out
    assert run(monkeypatch, "--help") == 0
    out = capsys.readouterr().out
    assert out == usage
    assert "demo" in out
    assert "show" in out


def test_the_installed_program_starts():
    done = subprocess.run(
        [sys.executable, "-m", "privatree", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("privatree ")
