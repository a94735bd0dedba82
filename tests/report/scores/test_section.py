"""The section on quality: on the page, in a browser and in the card."""

from __future__ import annotations

from dataclasses import replace

import pytest
from page_checks import CONTRASTS

from privatree import Model
from privatree.errors import ParameterError
from privatree.evaluation import CurvePoint, PrivateScores, Score
from privatree.report import html_report, model_card

CLASSES = ("low", "middle", "high")


def by_hand(classes=CLASSES, **changes):
    shares = [
        Score(name, 0.75, 0.7, 0.82, label) for name in ("recall", "precision") for label in classes
    ]
    given = {
        "scores": (
            Score("accuracy", 0.8, 0.76, 0.84),
            Score("balanced accuracy", None, 0.0, 1.0),
            Score("AUC", 0.9, 0.85, 0.94),
            Score("Brier score", 0.21, 0.2, 0.22),
            Score("log loss", 0.41, 0.35, 1.5),
            *shares,
        ),
        "epsilon": 0.25,
        "neighbours": "add-remove",
        "unit": None,
        "seeded": False,
        "noisy_size": 1234.4,
        "size_error": 17.3,
        "classes": classes,
        "confusion": tuple(tuple(10.0 * i + j for j in range(3)) for i in range(3)),
        "calibration": (
            (classes[0], (CurvePoint(0.3, Score("share", 0.25, 0.2, 0.4), 100.0),)),
            (classes[2], (CurvePoint(0.8, Score("share", None, 0.5, 1.0), 50.0),)),
        ),
    }
    return PrivateScores(**(given | changes))


@pytest.fixture
def scores() -> PrivateScores:
    return by_hand()


def number_scores():
    return PrivateScores(
        scores=(
            Score("R²", 0.4, -0.2, 0.6),
            Score("mean absolute error", 3.0, 2.5, 3.7),
            Score("root mean squared error", 5.0, 4.0, 6.25),
        ),
        epsilon=0.5,
        neighbours="replace",
        unit="patient <id>",
        seeded=True,
        noisy_size=500,
        size_error=20,
        error_limit=30.0,
        target_limits=(0.0, 45.0),
    )


def test_a_page_without_scores_says_nothing_of_them(hand_made):
    assert 'id="quality"' not in html_report(hand_made())


def test_the_page_and_the_card_have_every_metric_with_its_interval(hand_made, scores):
    page, card = html_report(hand_made(), scores=scores), model_card(hand_made(), scores=scores)
    for score in scores:
        for text in score.shown:
            assert text in page
            assert text in card
    for written in (page, card):
        assert "about 1,234 (± 18) records" in written
        assert "How good is it" in written
    assert "a model and its private scores" in page
    assert "is not covered" not in card
    assert "is not covered" in model_card(hand_made())


def test_the_page_of_a_number_says_what_is_limited(hand_made_number):
    page = html_report(hand_made_number(), scores=number_scores())
    for text in ("-0.200 to 0.600", "2.500 to 3.700", "Errors above 30 count as 30", "0 to 45"):
        assert text in page
    assert "patient &lt;id&gt;" in page
    assert "whoever knows the seed" in page


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (by_hand(classes=("low", "middle", "large")), "other classes"),
        (number_scores(), "other classes"),
        (0.84, "must be PrivateScores"),
    ],
)
def test_scores_of_another_model_are_refused(hand_made, wrong, message):
    for write in (html_report, model_card):
        with pytest.raises(ParameterError, match=message):
            write(hand_made(), scores=wrong)


def test_no_class_name_escapes(hostile_model, hostile):
    labels = tuple(hostile_model.schema_.classes)
    found = by_hand(labels)
    found = replace(found, confusion=((1.0,) * len(labels),) * len(labels))
    page = html_report(hostile_model, scores=found)
    assert "<img src=x" not in page
    assert "<script>window" not in page
    card = model_card(hostile_model, scores=found).partition("## How good is it")[2]
    assert "<script>window" not in card.partition("\n## ")[0]


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1100])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_a_browser_bars_lie_where_the_numbers_say(
    hand_made: Model, scores, open_page, width, scheme
):
    page = open_page(hand_made(), width=width, scores=scores, scheme=scheme)
    assert page.evaluate(CONTRASTS) == []
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(overflow) <= 0
    if width > 640:
        places = page.evaluate(
            """() => [...document.querySelectorAll(".scores .score-line")].map((line) => {
                const whole = line.getBoundingClientRect();
                const bar = line.querySelector(".reach").getBoundingClientRect();
                return [bar.left, bar.right].map((x) => (x - whole.left) / whole.width);
            })"""
        )
        assert places[0] == pytest.approx([0.76, 0.84], abs=0.01)
        assert places[1] == pytest.approx([0, 1], abs=0.01)
        assert places[4] == pytest.approx([0.35 / 1.5, 1], abs=0.01)
