"""The page of an ensemble in a real browser: charts, keys, and a record term by term."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from page_checks import CONTRASTS
from random_ensembles import random_records

from privatree import datasets
from privatree.export import value_text
from privatree.model.ensemble import Ensemble, Round, Step
from privatree.report import html_report
from privatree.report.ensemble import _ensemble_page
from privatree.schema import Categorical, Numeric, Schema, Target

PREDICTIONS = """(rows) => rows.map((row) => {
    for (const [place, value] of row) {
        document.getElementById("f" + place).value = value === null ? "" : value;
    }
    document.getElementById("record").dispatchEvent(new Event("input"));
    const shown = document.getElementById("prediction");
    const { probability, value } = shown.dataset;
    return [JSON.parse(probability || value), shown.querySelector(".label").textContent];
})"""


def typed(model, records, n_rows):
    """The records as they are typed in: codes in lists of choices, numbers to the last digit."""
    features = list(model.schema_.features.items())
    columns = []
    for place, position in enumerate(model.ensemble_.used_features):
        name, feature = features[position]
        if isinstance(feature, Categorical):
            known = list(feature.categories)
            texts = [
                None if value is None or pd.isna(value)
                else str(known.index(value)) if value in known else "other"
                for value in records[name]
            ]  # fmt: skip
        else:
            texts = [
                None if value is None or pd.isna(value) else repr(value) for value in records[name]
            ]
        columns.append([(place, text) for text in texts])
    return [[column[row] for column in columns] for row in range(n_rows)]


def check_predictions(page, model, records, n_rows):
    found, labels = zip(*page.evaluate(PREDICTIONS, typed(model, records, n_rows)), strict=True)
    frame, target = pd.DataFrame(records), model.schema_.target
    if target is not None:
        expected = model.predict(frame)
        np.testing.assert_allclose(np.array(found), expected, rtol=1e-9, atol=0)
        texts = [value_text(target, value).replace("-", "\u2212") for value in expected]
        assert list(labels) == texts
        assert len(set(expected)) > 2
        return
    expected = model.predict_proba(frame)
    assert np.abs(np.array(found) - expected).max() < 1e-9
    assert list(labels) == model.predict(frame).tolist()
    assert len({tuple(row) for row in expected.round(6)}) > 2  # else little was tried


# --- a record -------------------------------------------------------------------------------------


NUMBERS = [
    Target(-3, 1e6),
    Target(-3e-5, 2e-5),
    Target(0, 30, integer=True),
    Target(0, 1e9, log=True),
    Target(0, 1e5, log=True, integer=True),
]


@pytest.mark.parametrize(
    ("depth", "predicts"),
    [
        *((1, 2), (2, 2), (3, 2), (2, 4), (3, 3)),
        *((2 + place % 2, t) for place, t in enumerate(NUMBERS)),
    ],
    ids=lambda value: str(value),
)
def test_predictions_are_those_of_the_model(open_page, by_hand, depth, predicts):
    of_number = isinstance(predicts, Target)
    model = by_hand(seed=depth, depth=depth, **{"target" if of_number else "classes": predicts})
    rng = random.Random(depth)
    records = random_records(rng, model.ensemble_, 60)
    for name, feature in model.schema_.features.items():  # what a field of numbers can hold
        if isinstance(feature, Numeric):
            fits = [None if v is None or not np.isfinite(v) else float(v) for v in records[name]]
            records[name] = fits
    check_predictions(open_page(model), model, records, 60)


def test_predictions_of_a_dataset(open_page, adult_ensemble):
    frame, _, _ = datasets.load("adult")
    rows = frame.sample(3000, random_state=0)
    is_tie = adult_ensemble.decision_function(rows) == 0
    assert is_tie.sum() > 20
    rows = pd.concat([rows[is_tie][:20], rows[:20]]).astype(object)
    records = {name: rows[name].tolist() for name in rows}
    check_predictions(open_page(adult_ensemble), adult_ensemble, records, 40)


def test_numbers_of_a_dataset(open_page, hours_ensemble):
    frame, _, _ = datasets.load("adult")
    rows = frame.sample(40, random_state=0).astype(object)
    records = {name: rows[name].tolist() for name in hours_ensemble.schema_.features}
    check_predictions(open_page(hours_ensemble), hours_ensemble, records, 40)


def test_a_waterfall_of_a_number_adds_up(open_page, hours_ensemble):
    page = open_page(hours_ensemble)
    page.select_option("#f7", label="Husband")
    texts = page.locator("#steps li .push").all_inner_texts()
    numbers = [float(text.replace("\u2212", "-")) for text in texts]
    assert sum(numbers[:-1]) == pytest.approx(numbers[-1], abs=0.7)  # of eleven rounded ones
    assert page.locator("#waterfall-title").inner_text() == "What moves hours-per-week"
    said = page.locator("#sentence").inner_text()
    assert f"The prediction is {texts[-1]}. It starts at {texts[0]}; it is " in said
    note = page.locator("#waterfall-note").inner_text()
    assert "Bars are in the units of hours-per-week." in note
    assert "outside the range" not in note
    assert page.locator("#prediction .share").count() == 0


def test_a_sum_outside_the_range_is_said(open_page, by_hand):
    target = Target(0, 1e5, log=True, name="cost")
    model = by_hand(target=target)
    high = Ensemble(
        model.schema_, 1.0, (Round(Step(1, first=1, switches=(60.0,)), (3,)),), start=10.0
    )
    page = open_page(type(model)(model.schema_, high, model.privacy_))
    for age, expected, is_outside in (("10", "100000", True), ("70", "1096", False)):
        page.fill("#f0", age)
        assert page.locator("#prediction .label").inner_text() == expected
        note = page.locator("#waterfall-note").inner_text()
        assert "Bars are logarithms of 1 + cost" in note
        assert ("The sum is outside the range of cost" in note) == is_outside
    page.locator(".card").first.click()
    page.keyboard.press("ArrowRight")
    assert "1 + cost times" in page.locator("#readout").inner_text()


def test_a_waterfall_adds_up(open_page, adult_ensemble):
    page = open_page(adult_ensemble)
    assert page.locator("#waterfall").is_hidden()
    page.select_option("#f7", label="Husband")
    steps = page.locator("#steps li")
    texts = steps.locator(".push").all_inner_texts()
    assert steps.count() == 13  # the start, ten terms, the others, the record
    assert "other terms" in steps.nth(11).inner_text()
    start, end = (float(text.rstrip("%")) / 100 for text in (texts[0], texts[-1]))
    pushes = [float(text.replace("\u2212", "-")) for text in texts[1:-1]]
    assert sum(pushes) == pytest.approx(
        np.log(end / (1 - end)) - np.log(start / (1 - start)), abs=0.1
    )
    assert [abs(push) for push in pushes[:-1]] == sorted(map(abs, pushes[:-1]), reverse=True)
    assert f"The probability of >50K is {texts[-1]}." in page.locator("#sentence").inner_text()
    assert page.locator("#grid line.mark").count() > 3
    page.locator("#steps button").nth(3).click()
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement === document.querySelectorAll('#steps button')[3]")
    page.click("#clear")
    page.locator("#waterfall").wait_for(state="hidden")
    assert page.locator("#grid .mark").count() == 0
    page.click("#made-up")
    assert page.locator("#steps li").count() == 13


def test_values_count_as_the_form_says(open_page, by_hand):
    page = open_page(by_hand())
    page.fill("#f0", "200")
    assert page.locator("#h0 .said").inner_text() == "counts as 7.25"
    page.fill("#f1", "3.5")
    assert page.locator("#h1 .said").inner_text() == "not a whole number: compared without rounding"
    page.select_option("#f3", "other")
    assert page.locator("#h3 .said").inner_text() == "counts as missing"


def test_a_chosen_class(open_page, by_hand):
    page = open_page(by_hand(classes=3))
    before = page.locator("#grid").inner_html()
    page.click("#made-up")
    page.select_option("#about-class", label="high")
    assert page.locator("#grid").inner_html() != before
    assert page.locator("#waterfall-title").inner_text() == "What moves high"
    assert page.locator("#prediction .share").count() == 3
    said = page.locator("#sentence").inner_text()
    assert re.search(
        r"The probability of high is [0-9.]+%\. Its score is (raised|lowered) most", said
    )


# --- charts ---------------------------------------------------------------------------------------


def test_the_keyboard_is_enough(open_page, adult_ensemble):
    page = open_page(adult_ensemble)
    assert page.locator("#grid [tabindex='0']").count() == 1
    page.focus("#same-scale")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.dataset.term") == "0"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    place = page.evaluate("document.activeElement.dataset.term")
    assert int(place) > 1
    page.keyboard.press("Enter")
    assert page.locator("#large").is_visible()
    assert page.evaluate("document.activeElement.id") == "large-chart"
    name = adult_ensemble.terms()[int(place)].names[0]
    assert name in page.locator("#large-title").inner_text()
    page.keyboard.press("ArrowRight")
    first = page.locator("#readout").inner_text()
    assert f"{name} is " in first
    assert "odds of >50K times" in first
    page.keyboard.press("ArrowRight")
    assert page.locator("#readout").inner_text() != first
    page.keyboard.press("Escape")
    assert page.locator("#large").is_hidden()
    assert page.evaluate("document.activeElement.dataset.term") == place


def test_a_pair_and_a_triple_open_with_a_table(open_page, by_hand):
    page = open_page(by_hand(depth=3))
    page.evaluate("document.getElementById('weak').click()")
    if page.locator("#more").is_visible():
        page.click("#more")
    for name, n_columns in (("size and age", 4), ("size and age and ward", 5)):
        page.get_by_role("button", name=f"{name}:", exact=False).first.click()
        page.click("#large-table summary")
        assert page.locator("#large-table thead th").count() == n_columns
        assert page.locator("#large-table tbody tr").count() > 3
        page.keyboard.press("Escape")


def test_what_is_under_the_pointer(open_page, adult_ensemble):
    page = open_page(adult_ensemble)
    page.locator(".card").first.click()
    page.locator("#large-chart svg").hover(position={"x": 300, "y": 100})
    assert "capital-gain is above" in page.locator("#readout").inner_text()
    assert page.locator("#large-chart line.chosen").count() == 1
    page.click("#after")
    assert page.locator("#large-title").inner_text() == "education-num"
    page.click("#close")


def show_all(page):
    while page.locator("#more").is_visible():
        page.click("#more")


def test_the_grid_is_filtered_cut_and_unfolded(open_page, adult_ensemble):
    terms = adult_ensemble.terms()
    page = open_page(adult_ensemble)
    n_weak = sum(term.beyond_chance == 0 and term.order > 1 for term in terms)
    assert page.locator("#weak").inner_text() == f"Weaker than chance: {n_weak} more"
    page.click("#weak")
    show_all(page)
    assert page.locator(".card").count() == len(terms)
    page.fill("#filter", "CAPITAL-L")
    expected = sum(any("capital-l" in name for name in term.names) for term in terms)
    assert page.locator(".card").count() == min(expected, 20)
    page.fill("#filter", "nothing")
    assert page.locator("#grid-said").inner_text() == "No term fits."
    page.fill("#filter", "")
    page.locator("#pairs").evaluate("(p) => { p.value = 10; p.dispatchEvent(new Event('input')); }")
    few = adult_ensemble.terms(max_pairs=10)
    said = page.locator("#pairs-said").inner_text()
    assert f"typically change by {few.typical_change:.2f}" in said
    assert f"never by more than {few.largest_change:.2f}" in said
    show_all(page)
    names = page.locator(".card-title").all_inner_texts()
    assert len([name for name in names if " and " in name]) == 10


# Points at the row below the gap, moves over the gap, and counts the rows that are marked.
POINT_AND_MOVE = """() => {
    const chart = document.getElementById("large-chart"), up = { key: "ArrowUp" };
    const box = chart.querySelectorAll(".name")[100].getBoundingClientRect();
    const at = { clientX: box.left, clientY: (box.top + box.bottom) / 2 };
    const keys = [1, 2].map(() => new KeyboardEvent("keydown", up));
    return [new PointerEvent("pointermove", at), ...keys].map((event) => {
        chart.dispatchEvent(event);
        return chart.querySelectorAll(".name.chosen").length;
    });
}"""


def test_a_page_of_some_terms_says_so(open_page, by_hand, monkeypatch):
    monkeypatch.setattr(_ensemble_page, "MAX_NUMBERS", 300)
    model = by_hand()
    page = open_page(model)
    n_terms = len(model.terms())
    assert f"of {n_terms} terms are shown" in page.locator("#grid-said").inner_text()
    page.locator("#pairs").evaluate("(p) => { p.value = 0; p.dispatchEvent(new Event('input')); }")
    said = page.locator("#pairs-said").inner_text()
    assert "never by more than" in said
    assert "Predictions" not in said  # there are none
    page.locator(".card").first.click()
    name = page.locator("#large-title").inner_text()
    term = model.terms()[name]
    share = term.strength / sum(one.strength for one in model.terms())
    assert f"{100 * share:.1f}% of all." in page.locator("#large-facts").inner_text()


def test_an_interval_bends_the_axis(open_page, by_hand):
    features = {"size": Numeric(-2.5, 7.25), "income": Numeric(0, 10_000, integer=True)}
    model = by_hand(depth=1, schema=Schema(features, ["no", "yes"]))
    ensemble = replace(model.ensemble_, intervals={0: (-2.5, 6.0), 1: (24.0, 40.0)})
    page = open_page(type(model)(model.schema_, ensemble, model.privacy_))
    page.get_by_role("button", name="income:").click()
    assert "25 to 40. It was drawn with noise" in page.locator("#large-notes").inner_text()
    ends = page.locator("#large-chart line.interval").evaluate_all(
        "(lines) => lines.map((line) => Number(line.getAttribute('x1')))"
    )
    whole = page.locator("#large-chart line.zero").evaluate(
        "(line) => line.getAttribute('x2') - line.getAttribute('x1')"
    )
    assert ends[1] - ends[0] == pytest.approx(whole / 2)
    assert "1000" in page.locator("#large-chart text").all_text_contents()  # beyond it
    page.keyboard.press("Escape")
    page.get_by_role("button", name="size:").click()
    assert "to 6. It was drawn" in page.locator("#large-notes").inner_text()
    assert "bent" not in page.locator("#large-notes").inner_text()
    assert page.locator("#large-chart line.interval").count() == 0


def test_an_effect_as_large_as_its_band_is_not_beyond_it(open_page, by_hand):
    schema = Schema({"size": Numeric(0, 3)}, ["no", "yes"])
    model = by_hand(schema=schema)
    rounds = (Round(Step(0, first=-1, switches=(1.1,)), (-1, 1)),) * 4
    page = open_page(type(model)(schema, Ensemble(schema, 1 / 3, rounds), model.privacy_))
    page.locator(".card").click()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
        assert "chance alone explains" in page.locator("#readout").inner_text()


def test_a_term_of_very_many_values(open_page, by_hand):
    kinds = Categorical([f"kind {place}" for place in range(40_000)])
    page = open_page(by_hand(schema=Schema({"kind": kinds}, list("abcd")), n_rounds=3, depth=1))
    assert page.locator(".card").count() == 1


def test_many_features_and_categories(open_page, by_hand):
    features = {f"x{place}": Numeric(0, 1) for place in range(60)}
    features["many"] = Categorical([f"category {place}" for place in range(500)])
    schema = Schema(features, ["no", "yes"])
    page = open_page(by_hand(schema=schema, n_rounds=400))
    assert page.locator(".card").count() <= 20
    page.fill("#filter", "many")
    page.get_by_role("button", name="many:", exact=False).first.click()
    assert page.locator("#large-chart text.name").count() == 200
    assert page.evaluate(POINT_AND_MOVE) == [1, 1, 1]  # never to a row that is left out
    page.keyboard.press("Escape")
    page.click("#made-up")
    assert page.locator("#prediction .label").count() == 1


# --- looks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [None, Target(0, 1e9, log=True)], ids=["classes", "number"])
def test_every_text_can_be_read(open_page, by_hand, target):
    page = open_page(by_hand(target=target))
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    page.click("#made-up")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(CONTRASTS) == []


@pytest.mark.parametrize("width", [390, 320])
def test_a_phone_does_not_scroll_sideways(
    open_page, adult_ensemble, hostile_ensemble, hours_ensemble, hostile_number_ensemble, width
):
    for model in (adult_ensemble, hostile_ensemble, hours_ensemble, hostile_number_ensemble):
        page = open_page(model, width=width)
        page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        page.click("#made-up")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        page.locator(".card").first.click()
        assert page.locator("#large").evaluate("(one) => one.scrollWidth <= one.clientWidth + 1")


@pytest.mark.parametrize("name", ["adult_ensemble", "hours_ensemble"])
def test_paper_shows_the_charts_and_no_controls(open_page, request, name):
    page = open_page(request.getfixturevalue(name))
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    for control in (".bar", ".terms-tools", "#more", "#weak", "#record", "#large", "#poison"):
        assert page.locator(control).first.is_hidden()
    assert page.locator(".card svg").first.is_visible()
    assert page.locator("#try").is_hidden()  # without a record there is nothing to show
    tops = page.locator(".fact").evaluate_all("(all) => all.map((one) => one.offsetTop)")
    assert len(set(tops)) == 1
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate(CONTRASTS) == []
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")


def test_without_scripts_there_is_a_table(browser, by_hand):
    page = browser.new_context(java_script_enabled=False).new_page()
    page.set_content(html_report(by_hand()))
    page.click(".all-terms summary")
    assert page.locator(".terms-table tbody tr").first.is_visible()
    assert page.locator("#browse").is_hidden()
    assert "need JavaScript" in page.locator("#terms noscript").inner_text()
    page.context.close()


# --- strangers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["hostile_ensemble", "hostile_number_ensemble"])
def test_names_are_shown_and_not_run(open_page, request, name):
    page = open_page(request.getfixturevalue(name))
    page.click("#made-up")
    n_cards = page.locator(".card").count()
    for place in range(n_cards):
        page.locator(".card").nth(place).click()
        page.click("#large-table summary")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Escape")
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    assert "</script><script>window.hacked=1</script>" in page.locator("#public").inner_text()


def test_an_ensemble_without_terms(open_page, by_hand):
    model = by_hand(n_rounds=1, depth=1)
    constant = type(model)(model.schema_, constant_ensemble(model.schema_), model.privacy_)
    page = open_page(constant)
    assert "every record gets the same answer" in page.locator("#terms").inner_text()
    assert page.locator("#record").count() == 0


def constant_ensemble(schema):
    return Ensemble(schema, 0.5, (Round(Step(0, first=1), (-1, 1)),))
