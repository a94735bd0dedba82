import pytest
from run_command import run

from privatree import Model, Numeric, RegressionModel, Schema, Target
from privatree.model import TreeBuilder
from privatree.privacy import PrivacyStatement
from privatree.robustness import AccuracyCertificate, ErrorCertificate


def certificate(epsilon):
    privacy = PrivacyStatement(learner="by hand", epsilon=epsilon)
    return AccuracyCertificate(privacy, 0.9, 0.8765, 0.99, 100, 777, 50, (1,))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    builder = TreeBuilder(Schema({"age": Numeric(0, 100)}, ["low", "high"]))
    for label, node in enumerate(builder.split_numeric(builder.root, 0, 40.0)):
        builder.leaf(node, label)
    tree = builder.build()
    Model(tree.schema, tree, PrivacyStatement("by hand", epsilon=1.0)).save("model.json")
    return tmp_path


def test_it_writes_one_page(folder, monkeypatch, capsys):
    assert run(monkeypatch, "report", "model.json", "-o", "report.html") == 0
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "If age is at most 40" in text
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == "Wrote report.html. Open it in a browser.\n"
    assert sorted(path.name for path in folder.iterdir()) == ["model.json", "report.html"]


def test_a_certificate_beside_the_model_is_mentioned_and_left_out(folder, monkeypatch, capsys):
    certificate(1.0).save("model.certificate.json")
    assert run(monkeypatch, "report", "model.json", "-o", "report.html") == 0
    printed = capsys.readouterr()
    assert "model.certificate.json was left out: a certificate is not private." in printed.err
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert "8765" not in text
    assert "Not private" not in text


def test_a_certificate_that_is_wanted(folder, monkeypatch):
    certificate(1.0).save("mine.json")
    assert (
        run(monkeypatch, "report", "model.json", "-o", "r.html", "--certificate", "mine.json") == 0
    )
    text = (folder / "r.html").read_text(encoding="utf-8")
    assert "0.8765" in text
    assert "do not publish this page" in text


def test_a_model_of_a_number_takes_a_certificate_of_its_error(folder, monkeypatch, capsys):
    target = Target(0, 60, integer=True, name="days")
    builder = TreeBuilder(Schema({"age": Numeric(0, 100)}, target=target))
    for value, node in zip((2.5, 30.0), builder.split_numeric(builder.root, 0, 40.0), strict=True):
        builder.value_leaf(node, value)
    tree, privacy = builder.build(), PrivacyStatement("by hand", epsilon=1.0)
    RegressionModel(tree.schema, tree, privacy).save("days.json")
    assert run(monkeypatch, "report", "days.json", "-o", "days.html") == 0
    text = (folder / "days.html").read_text(encoding="utf-8")
    assert "that predicts <bdi>days</bdi>" in text
    assert "If age is at most 40, <strong>predict 2.5.</strong>" in text
    ErrorCertificate(
        privacy, 7.9, 8.12345, 0.99, 100, 777, 50, (1,), target_range=(1.0, 50.0)
    ).save("error.json")
    arguments = ("report", "days.json", "-o", "r.html", "--certificate")
    assert run(monkeypatch, *arguments, "error.json") == 0
    assert "an error of at most 8.124" in (folder / "r.html").read_text(encoding="utf-8")
    certificate(1.0).save("accuracy.json")
    capsys.readouterr()
    assert run(monkeypatch, *arguments, "accuracy.json") == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert run(monkeypatch, "export", "days.json", "--format", "card") == 0
    assert "The tree predicts days (a whole number from 0 to 60)" in capsys.readouterr().out


def test_mistakes_are_one_line_and_nothing_is_written(folder, monkeypatch, capsys):
    certificate(2.0).save("other.json")
    (folder / "broken.json").write_text("{")
    for arguments, said in (
        (["missing.json", "-o", "r.html"], "missing.json: No such file"),
        (["broken.json", "-o", "r.html"], "broken.json: "),
        (
            ["other.json", "-o", "r.html"],
            "must be a model, got a certificate against poisoned records",
        ),
        (["model.json"], "Missing option '--output' / '-o'"),
        (["model.json", "-o", "no/r.html"], "there is no folder no"),
        (["model.json", "-o", "model.json"], "is also an input file"),
        (
            ["model.json", "-o", "other.json", "--certificate", "other.json"],
            "is also an input file",
        ),
        (["model.json", "-o", "r.html", "--certificate", "other.json"], "its epsilon differs"),
        (["model.json", "-o", "r.html", "--certificate", "model.json"], "privatree-certificate"),
    ):
        before = sorted(folder.iterdir())
        assert run(monkeypatch, "report", *arguments) == 2
        printed = capsys.readouterr()
        assert said in printed.err
        assert printed.err.count("\n") == 1
        assert sorted(folder.iterdir()) == before
