import json
import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from privatree import ModelFormatError, ParameterError
from privatree.privacy import PrivacyStatement, Schedule, Stage
from privatree.robustness import EpsilonDP, PredictionCertificates, best
from privatree.robustness.certificates._predictions import prediction_radius

CHOICES = ("0.00918323", "0.01469317", "0.07191011")
COUNTS = ("0.00162057", "0.002592915")


def vector_schedule():
    """The stages of the design's test vectors at epsilon 0.1."""
    choices, counts = (tuple(map(Fraction, texts)) for texts in (CHOICES, COUNTS))
    stages = (
        Stage("choice", choices[0]),
        Stage("count", counts[0]),
        Stage("choice", choices[1]),
        Stage("count", counts[1]),
        Stage("choice", choices[2]),
    )
    return Schedule(sum(choices + counts), sum(choices), sum(counts), (stages,))


@pytest.mark.parametrize(
    ("probability", "bound", "radius"),
    [
        (0.9, "C", 21),
        (0.9, "D", 26),
        (0.9, "E", 29),
        (0.6, "C", 12),
        (0.6, "D", 15),
        (0.6, "E", 17),
    ],
)
def test_the_vectors_of_the_design(probability, bound, radius):
    assert prediction_radius(vector_schedule(), probability, 0.1, bound) == radius
    assert prediction_radius(vector_schedule(), probability, 0.1) >= radius


def test_two_classes_under_c_have_a_closed_form():
    schedule = vector_schedule()
    total = float(schedule.choices + 2 * schedule.counts)
    for probability in (0.55, 0.7, 0.99):
        radius = prediction_radius(schedule, probability, 1 - probability, "C")
        assert radius == math.ceil(math.log(probability / (1 - probability)) / total) - 1


def test_nothing_is_certain_of_equals():
    for pair in ((0.5, 0.5), (0.4, 0.5), (0.0, 0.0)):
        assert prediction_radius(EpsilonDP(0.1), *pair) is None
    assert prediction_radius(EpsilonDP(0.1), 0.51, 0.49) == 0


# --- many records ---------------------------------------------------------------------------------

PRIVACY = PrivacyStatement(learner="Learner", epsilon=0.1, public=("the schema",))


def certificates(counts, confidence=0.9, classes=None):
    counts = np.array(counts)
    classes = classes or tuple("abcdef"[: counts.shape[1]])
    return PredictionCertificates(PRIVACY, classes, counts, confidence, n_train=100)


def test_each_record_has_its_class_its_bounds_and_what_it_tolerates():
    found = certificates([[100, 0], [0, 100], [50, 50], [80, 20]])
    assert found.predictions == ["a", "b", "a", "a"]
    each = 0.1 / 8
    assert found.lower[0] == found.lower[1] == pytest.approx(each ** (1 / 100))
    assert found.runner_up == pytest.approx(1 - found.lower)
    assert found.tolerates[0] == found.tolerates[1] > found.tolerates[3] >= 0 > found.tolerates[2]
    for place in (0, 3):
        edits = int(found.tolerates[place])
        sure = [best(EpsilonDP(0.1), found.lower[place], x).value for x in (edits, edits + 1)]
        assert sure[0] > 0.5 >= sure[1]
    assert found.certified_share(0) == 0.75
    assert found.certified_share(int(found.tolerates[0]) + 1) == 0


def test_with_more_classes_the_nearest_other_one_decides():
    near, far = certificates([[60, 40, 0, 0]]), certificates([[60, 14, 13, 13]])
    assert near.lower == far.lower
    assert near.runner_up > far.runner_up
    assert near.tolerates[0] < far.tolerates[0]
    order = certificates([[0, 40, 60, 0]])
    assert (order.predictions, order.tolerates.tolist()) == (["c"], near.tolerates.tolist())


def test_the_confidence_is_for_all_records_together():
    alone, among_many = certificates([[100, 0]]), certificates([[100, 0]] * 50)
    assert alone.lower[0] > among_many.lower[0]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_bounds_are_wrong_no_more_often_than_they_say(n_classes):
    """Exactly, over all outcomes of 12 refits."""
    refits = 12
    outcomes = [c for c in product(range(refits + 1), repeat=n_classes) if sum(c) == refits]
    found = [(counts, certificates([counts], confidence=0.7)) for counts in outcomes]
    laws = [(0.5, 0.5), (0.6, 0.4), (0.9, 0.1), (0.999, 0.001)]
    if n_classes == 3:
        laws = [(0.4, 0.3, 0.3), (0.34, 0.33, 0.33), (0.7, 0.29, 0.01), (0.9, 0.05, 0.05)]
    for law in laws:
        wrong = naive = 0.0
        for counts, certificate in found:
            ways = math.factorial(refits) / math.prod(map(math.factorial, counts))
            probability = ways * math.prod(p**c for p, c in zip(law, counts, strict=True))
            code = int(certificate.codes[0])
            others = max(p for place, p in enumerate(law) if place != code)
            if certificate.lower[0] > law[code] or certificate.runner_up[0] < others:
                wrong += probability
            if counts[code] / refits > law[code]:  # the mutant: shares in place of bounds
                naive += probability
        assert wrong <= 0.3
        if max(law) < 0.9:
            assert naive > 0.3


def test_the_table_the_text_and_the_json():
    found = certificates([[100, 0], [50, 50]])
    table = found.table()
    assert table["prediction"].tolist() == ["a", "a"]
    assert table["tolerates"].isna().tolist() == [False, True]
    text = " ".join(str(found).split())
    assert "With 90% confidence over 100 refits" in text
    assert "all 2 records to predict together" in text
    assert "the class that the learner predicts most often for a record stays the one" in text
    assert "publishing it is outside epsilon" in text
    assert "counts as 2" in text
    assert "poisoned certain 0 50.00%" in text
    assert "Nothing is certain for 1 of 2 records, not even without poison: the refits dis" in text
    written = json.loads(found.to_json())
    assert written["tolerates"] == [int(found.tolerates[0]), None]
    assert written["counts"] == [[100, 0], [50, 50]]
    assert "outside epsilon" in written["warning"]


@pytest.mark.parametrize(
    "counts", [[[3]], [[1, 2], [1, 1]], [[-1, 3]], [[0, 0]], np.zeros((0, 2), dtype=int)]
)
def test_other_counts_are_refused(counts):
    with pytest.raises(ParameterError, match="counts must"):
        certificates(counts)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_records", [1, 40])
def test_with_too_few_refits_nothing_is_certain_and_more_are_asked_for(n_records, n_classes):
    fewest = certificates([[1] + [0] * (n_classes - 1)] * n_records).fewest_refits
    few, enough = (
        certificates([[refits] + [0] * (n_classes - 1)] * n_records)
        for refits in (fewest - 1, fewest)
    )
    assert np.all(few.tolerates == -1)
    assert np.all(enough.tolerates >= 0)
    text = " ".join(str(few).split())
    assert f"takes at least {fewest} refits here" in text
    assert f"there were {fewest - 1}. Use more." in text
    assert "Nothing is certain" not in str(enough)


# --- file -----------------------------------------------------------------------------------------


def test_saved_certificates_are_the_same_when_loaded(tmp_path):
    found = certificates([[100, 0, 0], [30, 30, 40]], classes=("no", "yes", "ja"))
    path = tmp_path / "c.json"
    found.save(path)
    loaded = PredictionCertificates.load(path)
    assert str(loaded) == str(found)
    assert loaded.to_dict() == found.to_dict()
    assert loaded.counts.tolist() == [[100, 0, 0], [30, 30, 40]]


@pytest.mark.parametrize(
    "change",
    [
        lambda w: w.update(format="privatree-model"),
        lambda w: w.update(version=2),
        lambda w: w.update(kind="accuracy"),
        lambda w: w.update(more=1),
        lambda w: w.pop("meaning"),
        lambda w: w.update(classes="ab"),
        lambda w: w.update(classes=["a", "a"]),
        lambda w: w.update(classes=["a", None]),
        lambda w: w.update(confidence=0.95),
        lambda w: w.update(confidence=1),
        lambda w: w.update(refits=99),
        lambda w: w.update(n_train=0),
        lambda w: w.update(notes=None),
        lambda w: w.update(counts=[]),
        lambda w: w.update(counts=[[100, 0], [50]]),
        lambda w: w.update(counts=[[100, 0.5], [50, 50]]),
        lambda w: w.update(counts=[[2**62, 2**62], [2**62, 2**62]]),
        lambda w: w.update(counts=[[99, 1], [50, 50]]),
        lambda w: w.update(predictions=["a", "b"]),
        lambda w: w.update(tolerates=[1]),
        lambda w: w["tolerates"].__setitem__(0, w["tolerates"][0] + 1),
        lambda w: w["tolerates"].__setitem__(1, 0),
        lambda w: w["tolerates"].__setitem__(1, 10**400),
        lambda w: w["probability_at_least"].__setitem__(0, 0.999),
        lambda w: w["runner_up_at_most"].__setitem__(0, 0.001),
        lambda w: w["runner_up_at_most"].__setitem__(0, None),
        lambda w: w["privacy"].update(epsilon="infinity"),
        lambda w: w.clear(),
    ],
)
def test_a_file_that_promises_more_or_is_something_else_is_refused(tmp_path, change):
    written = certificates([[100, 0], [50, 50]]).to_dict()
    assert PredictionCertificates.from_dict(written).to_dict() == written
    change(written)
    path = tmp_path / "c.json"
    path.write_text(json.dumps(written))
    with pytest.raises(ModelFormatError, match=r"c\.json: "):
        PredictionCertificates.load(path)
