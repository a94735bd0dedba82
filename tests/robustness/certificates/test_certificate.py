import json
from dataclasses import replace
from fractions import Fraction

import pytest

from privatree import ModelFormatError, ParameterError, load
from privatree.errors import CertificateError
from privatree.privacy import Leak, PrivacyStatement, Schedule, Stage
from privatree.robustness import (
    AccuracyCertificate,
    AttackSuccessCertificate,
    EpsilonDP,
    best,
    bounds,
)
from privatree.robustness.certificates._majority import Majority

STAGES = (Stage("count", Fraction(1, 100)), Stage("choice", Fraction(9, 100)))
PRIVACY = PrivacyStatement(
    learner="Learner",
    epsilon=0.1,
    public=("the schema: ranges and classes", "the parameters"),
    seeded=True,
    schedule=Schedule(Fraction(1, 10), Fraction(9, 100), Fraction(1, 100), (STAGES,)),
)
PRIVACY = PrivacyStatement.from_dict(PRIVACY.to_dict())
CLAIM = PrivacyStatement(
    learner="Other",
    epsilon=float("inf"),
    public=("the number of records: it is read from them",),
    claimed_epsilon=0.1,
    leaks=(Leak("hole", "it leaks."),),
)
FIGURES = {"confidence": 0.99, "refits": 400, "n_train": 1000, "n_test": 50}


@pytest.fixture(scope="module")
def accuracy():
    return AccuracyCertificate(
        privacy=PRIVACY,
        estimate=0.85,
        clean_bound=0.84127,
        poisoned=(0, 10),
        notes=("A note.",),
        majority=Majority("yes", 0.6),
        **FIGURES,
    )


@pytest.fixture(scope="module")
def success():
    return AttackSuccessCertificate(
        privacy=PRIVACY, estimate=0.01, clean_bound=0.02, poisoned=(1, 10), **FIGURES
    )


@pytest.fixture(scope="module")
def claimed():
    return AccuracyCertificate(
        privacy=CLAIM,
        estimate=0.85,
        clean_bound=0.84,
        poisoned=(10,),
        claimed_by="its authors",
        **FIGURES,
    )


# --- figures --------------------------------------------------------------------------------------


def test_accuracy_is_at_least_what_the_best_bound_leaves_of_the_lower_bound(accuracy):
    spending = PRIVACY.schedule
    assert accuracy.lower == accuracy.guarantee(0) == 0.84127
    assert accuracy.guarantee(10) == best(spending, 0.84127, 10).value
    assert accuracy.bounds(10) == bounds(spending, 0.84127, 10)
    assert accuracy.guarantee(10) == max(accuracy.bounds(10).values())


def test_success_is_at_most_what_follows_for_its_complement(success):
    assert success.upper == 0.02
    assert success.guarantee(0) == pytest.approx(0.02)
    assert success.guarantee(10) == 1 - best(PRIVACY.schedule, 0.98, 10).value
    assert success.guarantee(10) == min(success.bounds(10).values())
    assert 0.02 < success.guarantee(1) < success.guarantee(10) < 0.1


def test_tolerates_is_the_last_number_with_that_guarantee(accuracy, success):
    edits = accuracy.tolerates(0.6)
    assert accuracy.guarantee(edits) >= 0.6 > accuracy.guarantee(edits + 1)
    edits = success.tolerates(0.2)
    assert success.guarantee(edits) <= 0.2 < success.guarantee(edits + 1)
    assert accuracy.tolerates(0.8413) is None
    assert accuracy.tolerates(0.84127) == 0
    assert success.tolerates(0) is None
    for wrong in (0, -1, 1.1, float("nan"), 70, "0.7", True):
        with pytest.raises(ParameterError, match=rf"score must be > 0 and <= 1, got {wrong!r}\."):
            accuracy.tolerates(wrong)
    for wrong in (1, 1.1, -0.1, 70):
        with pytest.raises(ParameterError, match=rf"score must be >= 0 and < 1, got {wrong!r}\."):
            success.tolerates(wrong)


def test_the_table_has_every_bound(accuracy, success, claimed):
    table = accuracy.table()
    assert list(table.columns[:4]) == ["poisoned", "share", "guaranteed", "bound"]
    assert list(table.columns[4:]) == list(accuracy.bounds(10))
    assert table["share"].tolist() == [0, 0.01]
    assert table["guaranteed"].tolist() == [0.84127, accuracy.guarantee(10)]
    assert (table[table["bound"][1]][1]) == accuracy.guarantee(10)
    assert success.table()["guaranteed"].tolist() == [success.guarantee(1), success.guarantee(10)]
    assert table["bound"][0] == "-"  # all are equal
    assert list(claimed.table().columns[4:]) == ["A", "B", "AB*"]


def test_nothing_is_called_guaranteed_where_it_is_claimed(claimed):
    assert list(claimed.table().columns[:4]) == ["poisoned", "share", "if claimed", "bound"]
    assert "if claimed" in str(claimed)
    assert str(claimed).replace("not guaranteed", "").count("guaranteed") == 0
    (row,) = claimed.to_dict()["rows"]
    assert row["if_claimed"] == claimed.guarantee(10)
    assert "guaranteed" not in row


def test_a_claim_gives_the_bounds_for_epsilon_alone(claimed):
    assert claimed.spending == EpsilonDP(0.1)
    assert claimed.guarantee(10) == best(EpsilonDP(0.1), 0.84, 10).value
    assert (claimed.learner, claimed.epsilon) == ("Other", 0.1)


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"clean_bound": 0.86}, ParameterError),
        ({"estimate": 1.1}, ParameterError),
        ({"clean_bound": float("nan")}, ParameterError),
        ({"confidence": 1.0}, ParameterError),
        ({"refits": 0}, ParameterError),
        ({"poisoned": (-1,)}, ParameterError),
        ({"privacy": CLAIM}, CertificateError),
        ({"claimed_by": "me"}, CertificateError),
    ],
)
def test_what_is_no_certificate_is_refused(accuracy, changed, error):
    with pytest.raises(error):
        replace(accuracy, **changed)


# --- text -----------------------------------------------------------------------------------------

SAID_ALWAYS = (
    "With 99% confidence over 400 refits, for this training set (1000 records) and test set (50 "
    "records), any x additions or removals of training records leave",
    "A replaced record or a flipped label counts as 2",
    "computed from the records without privacy: publishing it is outside epsilon",
    "fixed before training",
)


def test_the_text_says_what_holds_and_on_what_conditions(accuracy, success, claimed):
    for certificate in (accuracy, success, claimed):
        text = " ".join(str(certificate).split())
        assert all(sentence in text for sentence in SAID_ALWAYS)
    text = " ".join(str(accuracy).split())
    assert "expected accuracy of at least" in text
    assert (
        "these do not come from the records, so poison cannot change them: the schema (ranges and "
        "classes); the parameters" in text
    )
    assert "A note." in text
    assert "a seed that was not chosen by its result" in text
    text = " ".join(str(success).split())
    assert "expected attack success rate of at most" in text
    assert "the test set, the trigger and the parameters" in text
    text = " ".join(str(claimed).split())
    assert "claimed by its authors, it is not guaranteed" in text
    assert "only as true as that claim" in text
    assert "known to contradict the claim: hole: it leaks." in text
    assert "takes these as public: the number of records (it is read from them). Where" in text
    assert "do not come from the records" not in text


def test_one_is_not_said_to_be_many(accuracy):
    one = replace(accuracy, refits=1, n_train=1, n_test=1)
    text = " ".join(str(one).split())
    assert "over 1 refit, for this training set (1 record) and test set (1 record)" in text


def test_the_figures_above_the_table_are_aligned(accuracy, success):
    for certificate in (accuracy, success, replace(accuracy, majority=Majority("y" * 99, 0.6))):
        lines = str(certificate).splitlines()
        lines = lines[1 : lines.index("")]
        assert len(lines) == (3 if certificate.majority else 2)
        assert len({len(line) for line in lines}) == 1
        assert len(lines[0]) < 80
        assert all(line[-6:].startswith("0.") and line[-9:-6] == "   " for line in lines)


def test_an_accuracy_is_compared_with_that_of_a_constant_answer(accuracy, success):
    hint = "is below that of always answering 'yes'. A smaller epsilon, schedule=\"robust\", more"
    text = " ".join(str(accuracy).split())
    assert "always answering 'yes' 0.6000" in text
    assert accuracy.to_dict()["comparison"] == [
        "Always answering 'yes' would have an accuracy of 0.6000 on the test set."
    ]
    assert "is below that" not in text
    above = accuracy.guarantee(10)
    for share, is_below in ((above, False), (above + 1e-6, True)):  # the row without poison is not
        weak = replace(accuracy, majority=Majority("yes", share))
        assert (hint in " ".join(str(weak).split())) is is_below
        assert (hint in " ".join(weak.to_dict()["comparison"])) is is_below
    few = replace(accuracy, majority=Majority("yes", 0.845))
    assert "More refits, a smaller epsilon" in " ".join(str(few).split())
    unpoisoned = replace(accuracy, majority=Majority("yes", 0.9), poisoned=(0,))
    assert "is below that" not in str(unpoisoned)
    assert "always answering" not in str(success)
    assert success.to_dict()["comparison"] == []


def test_the_letters_are_explained_right_below_the_table(accuracy):
    lines = str(accuracy).splitlines()
    (place,) = [i for i, line in enumerate(lines) if line.split()[:1] == ["10"]]
    assert lines[place + 1].startswith("  bound: the letter of the best one. A is the paper's")
    assert len(lines[place + 1]) < 88


def test_figures_in_the_text_are_rounded_to_the_safe_side(accuracy, success):
    shown = [line.split() for line in str(accuracy).splitlines()]
    assert ["0", "0.00%", "0.8412", "-"] in shown
    (row,) = [words for words in shown if words[:1] == ["10"]]
    assert 0 <= accuracy.guarantee(10) - float(row[2]) < 1e-4
    (row,) = [line.split() for line in str(success).splitlines() if line.split()[:1] == ["10"]]
    assert 0 <= float(row[2]) - success.guarantee(10) < 1e-4


# --- file -----------------------------------------------------------------------------------------


def test_a_saved_certificate_is_the_same_when_loaded(accuracy, success, claimed, tmp_path):
    for certificate in (accuracy, success, claimed):
        path = tmp_path / "certificate.json"
        certificate.save(path)
        loaded = type(certificate).load(path)
        assert loaded == certificate
        assert str(loaded) == str(certificate)
        written = json.loads(path.read_text())
        assert (written["format"], written["version"]) == ("privatree-certificate", 1)
        assert "outside epsilon" in written["warning"]
        promise = "if_claimed" if certificate.claimed_by else "guaranteed"
        assert [row[promise] for row in written["rows"]] == [
            certificate.guarantee(edits) for edits in certificate.poisoned
        ]
    assert any("only as true as that claim" in line for line in written["conditions"])


@pytest.mark.parametrize(
    "change",
    [
        lambda w: w.update(format="privatree-model"),
        lambda w: w.update(version=2),
        lambda w: w.update(version=True),
        lambda w: w.update(version=1.0),
        lambda w: w.update(kind="attack-success"),
        lambda w: w.update(more=1),
        lambda w: w.pop("meaning"),
        lambda w: w.update(estimate="0.85"),
        lambda w: w.update(estimate=10**400),
        lambda w: w.update(refits=1.5),
        lambda w: w.update(clean_bound=0.9),
        lambda w: w.update(confidence=2),
        lambda w: w.update(claimed_by=3),
        lambda w: w.update(claimed_by="somebody"),
        lambda w: w.update(notes="x"),
        lambda w: w.update(majority="yes"),
        lambda w: w.update(majority={"class": "yes"}),
        lambda w: w.update(majority={"class": ["yes"], "share": 0.5}),
        lambda w: w.update(majority={"class": float("nan"), "share": 0.5}),
        lambda w: w.update(majority={"class": "yes", "share": 0}),
        lambda w: w.update(rows=[1]),
        lambda w: w.update(rows=w["rows"] * 501),
        lambda w: w["rows"][1].update(poisoned=-1),
        lambda w: w["rows"][1].update(poisoned=None),
        lambda w: w["rows"][1].update(guaranteed=0.99),
        lambda w: w["privacy"].update(leaks=[{"name": "hole", "explanation": "it leaks."}]),
        lambda w: w["privacy"].update(epsilon=-1),
        lambda w: w.clear(),
    ],
)
def test_a_file_that_promises_more_or_is_something_else_is_refused(accuracy, change):
    written = json.loads(accuracy.to_json())
    assert AccuracyCertificate.from_dict(written) == accuracy
    change(written)
    with pytest.raises(ModelFormatError):
        AccuracyCertificate.from_dict(written)


def test_a_success_rate_that_promises_more_is_refused(success):
    written = json.loads(success.to_json())
    written["rows"][1]["guaranteed"] -= 1e-6
    with pytest.raises(ModelFormatError, match="promises more"):
        AttackSuccessCertificate.from_dict(written)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000])
def test_what_is_no_json_is_refused_with_its_path(tmp_path, content):
    path = tmp_path / "c.json"
    path.write_bytes(content)
    with pytest.raises(ModelFormatError, match=r"c\.json: a certificate must be (JSON|UTF-8 text)"):
        AccuracyCertificate.load(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"9" * 5000, "thousands of digits"),
        (b'{"a": 1, "a": 1}', "same key twice"),
        (b"[NaN]", "must be finite"),
    ],
    ids=range(3),
)
def test_json_is_read_as_strictly_as_that_of_a_model(tmp_path, content, message):
    path = tmp_path / "c.json"
    path.write_bytes(content)
    with pytest.raises(ModelFormatError, match=rf"c\.json: .*{message}"):
        AccuracyCertificate.load(path)


def test_what_is_something_else_is_refused_with_its_path_and_its_reader(success, tmp_path):
    path = tmp_path / "c.json"
    success.save(path)
    with pytest.raises(ModelFormatError, match=r"c\.json: .*AttackSuccessCertificate\.load reads"):
        AccuracyCertificate.load(path)
    with pytest.raises(ModelFormatError, match=r"c\.json: the file must be a model, got"):
        load(path)
    path.write_text('{"format": "privatree-model"}')
    with pytest.raises(ModelFormatError, match=r"c\.json: .*use privatree\.load"):
        AccuracyCertificate.load(path)


def test_a_full_disk_is_named_with_the_file(accuracy, monkeypatch, tmp_path):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("privatree._support.atomic_files.os.replace", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*here\.json'"):
        accuracy.save(tmp_path / "here.json")
