"""The page and the card of an ensemble as files: nothing of a model runs, and all is said."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from fractions import Fraction

import pytest

from privatree.privacy import Composition, RangeGroup, Spend
from privatree.report import html_report, model_card
from privatree.report.ensemble import _ensemble_page
from privatree.schema import Categorical, Numeric, Schema, Target


def shown(text):
    """The text of a page without its style, its scripts and its tags."""
    body = re.sub(r"<(script|style)[^>]*>.*?</\1>", " ", text, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", body)).split())


@pytest.mark.parametrize("name", ["hostile_ensemble", "hostile_number_ensemble"])
def test_only_the_pages_own_script_may_run(request, name):
    text = html_report(request.getfixturevalue(name))
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text
    assert text.count("<script") == 2
    assert "\u202e" not in text
    tags = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert not re.search(r"<[a-z]+(\s[a-z-]+(=\"[^\"]*\")?)*\son[a-z]+=", tags)


def test_the_page_of_adult_is_small(adult_ensemble):
    text = html_report(adult_ensemble)
    assert len(text.encode()) < 1_000_000
    said = shown(text)
    assert "An ensemble of 102 rounds that tells <=50K from >50K" in said
    assert "epsilon may fail: 1 in 1,000,000" in said
    assert "What delta means" in said
    assert "As a bet" not in said
    assert "the ranges do not add up to epsilon" in said
    assert "All of 1 was spent" in said
    assert "this tree" not in said
    assert "the tree" not in said


def test_ranges_are_apart_from_the_budget(by_hand):
    composition = Composition(
        Fraction(1, 2), Fraction(1, 10**6), (RangeGroup(Fraction(1, 50), 60),)
    )
    ranges = tuple(Spend("exponential", Fraction(1, 50), "round", is_range=True) for _ in range(60))
    counted = Spend("geometric", Fraction(1, 8), "number of records")
    model = by_hand(epsilon=1.0, spends=(counted, *ranges), composition=composition)
    said = shown(html_report(model))
    assert "0.625 of 1 was spent" in said
    assert "60 draws of bounded range together with delta 1e-06; listed below 0.5" in said
    assert "round exponential, 60 times range 0.02" in said
    assert "not spent 0.375" in said


def test_without_delta_nothing_is_said_of_it(by_hand):
    said = shown(html_report(by_hand(delta=0.0)))
    assert "What delta means" not in said
    assert "epsilon holds always" in said
    assert "As a bet" in said


def test_an_ensemble_that_is_too_large(by_hand, monkeypatch):
    monkeypatch.setattr(_ensemble_page, "MAX_NUMBERS", 100)
    model = by_hand()
    text = html_report(model)
    said = shown(text)
    assert "so it cannot predict" in said
    assert 'id="record"' not in text
    data = json.loads(re.search(r'id="data">(.*?)</script>', text)[1])
    places = [term["place"] for term in data["terms"]]
    assert 0 < len(places) < places[-1] + 1 < data["n_terms"]  # a large one was left out
    assert data["n_terms"] == len(model.terms())
    assert data["strength"] == pytest.approx(sum(one.strength for one in model.terms()), rel=1e-5)


def test_groupings_of_categories_count_and_are_there_once(by_hand, monkeypatch):
    monkeypatch.setattr(_ensemble_page, "MAX_NUMBERS", 20_000)
    features = {f"x{place}": Numeric(0, 1) for place in range(5)}
    kinds = {f"kind {place}": Categorical(list(range(900))) for place in range(5)}
    text = html_report(by_hand(schema=Schema(features | kinds, ["no", "yes"]), n_rounds=60))
    data = json.loads(re.search(r'id="data">(.*?)</script>', text)[1])
    groupings = [tuple(grouping) for grouping in data["groupings"]]
    assert len(set(groupings)) == len(groupings) > 3
    effects = sum(2 * len(term["effects"]) for term in data["terms"])
    assert effects + sum(map(len, groupings)) <= 20_000
    assert len(data["terms"]) < data["n_terms"]


def test_an_ensemble_of_deep_functions_has_no_terms(by_hand):
    text = html_report(by_hand(depth=4, n_rounds=60))
    assert "too large to be shown as a sum of terms" in shown(text)
    assert "too large to be shown as a sum of terms" in model_card(by_hand(depth=4, n_rounds=60))


def test_a_card_has_the_strongest_terms(adult_ensemble):
    card = model_card(adult_ensemble)
    assert "# An ensemble with differential privacy, its noise not secret" in card
    assert [line for line in card.splitlines() if line.startswith("## ")] == [
        "## Intended use",
        "## Terms",
        "## Privacy",
        "## What was assumed public",
        "## Limits",
        "## How to cite",
        "## Privacy statement for programs",
    ]
    strongest = adult_ensemble.terms()[0]
    assert f"| {strongest.names[0]} | {strongest.strength:.3f} |" in card
    assert "Noise can make a term wrong" in card
    assert "tree" not in card.split("## How to cite")[0].replace("privatree", "")


def test_effects_on_a_number_have_three_digits(by_hand):
    """Of the largest effect, in the units of the target."""
    for high, digits in ((60, 1), (6e5, 0), (6e-4, 6)):
        model = by_hand(target=Target(0, high, name="cost"))
        said = shown(html_report(model))
        assert "in the units of cost" in said
        terms = model.terms()
        largest = max(abs(term.effect).max() for term in terms)
        assert re.search(rf"[+\u2212][0-9]+\.?[0-9]{{{digits}}} if ", said), largest
        assert f"{terms[0].strength:.{digits + 1}f} (" in said
        card = model_card(model)
        assert f"| {terms[0].strength:.{digits + 1}f} |" in card
        assert "A sum outside the range counts as its nearer end." in card
        assert "class" not in card.lower()
    log = model_card(by_hand(target=Target(0, 1e5, log=True)))
    assert "The logarithm of 1 + the target is" in log
    assert "pipeline_tag: tabular-regression" in log


def test_the_words_for_a_number(hours_ensemble):
    said = shown(html_report(hours_ensemble))
    assert "that predicts hours-per-week" in said
    assert "0 to 100 whole numbers; predictions are in this range" in said
    assert "odds" not in said
    assert "classes" not in said


@pytest.mark.parametrize("name", ["hostile_ensemble", "hostile_number_ensemble"])
def test_names_cannot_break_the_card(request, name):
    card = model_card(request.getfixturevalue(name))
    outside = re.sub(r"^```.*?^```$", "", card, flags=re.M | re.S)
    assert "<" not in outside
    assert {row.count("|") for row in outside.splitlines() if row.startswith("|")} == {5, 7}


def test_a_table_names_categories(by_hand):
    schema = Schema({"kind": Categorical(["a", "b", "missing"], missing="separate")}, ["no", "yes"])
    said = shown(html_report(by_hand(schema=schema, depth=1)))
    assert re.search(r"if kind is (a|b|missing|\"missing\")", said)
