"""One file that asks for nothing, runs nothing of a model, and takes no time to speak of."""

import base64
import hashlib
import json
import math
import random
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import privatree
from privatree import About, Model, PrivaTreeClassifier, RegressionModel, load
from privatree.errors import ParameterError
from privatree.model import TreeBuilder
from privatree.privacy import Leak, PrivacyStatement, Spend
from privatree.report import _citation as citation
from privatree.report import fingerprint, html_report
from privatree.report._html import json_for_html_script
from privatree.robustness import (
    AccuracyCertificate,
    AttackSuccessCertificate,
    ErrorCertificate,
)
from privatree.robustness.certificates._majority import Majority
from privatree.schema import Categorical, Numeric, Schema, Target


class Page(HTMLParser):
    """What a browser would see: tags with attributes, scripts, and the text that is shown."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self.texts, self._inside = [], [], [], ""
        self.feed(text)
        self.close()
        self.shown = " ".join(" ".join(self.texts).split())

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self._inside = tag
        if tag == "script":
            self.scripts.append((dict(attributes), ""))

    def handle_endtag(self, tag):
        self._inside = ""

    def handle_data(self, text):
        if self._inside == "script":
            attributes, before = self.scripts[-1]
            self.scripts[-1] = (attributes, before + text)
        elif self._inside != "style":
            self.texts.append(text)


def certificate_for(privacy, **changes):
    given = {
        "privacy": replace(privacy, spends=()), "estimate": 0.86, "clean_bound": 0.84321,
        "confidence": 0.99, "refits": 100, "n_train": 4321, "n_test": 1000, "poisoned": (1, 10),
    }  # fmt: skip
    return AccuracyCertificate(**(given | changes))


@pytest.mark.slow
def test_nothing_is_requested(adult_model, hostile_model, hostile_number):
    for model in (adult_model, hostile_model, hostile_number):
        text = html_report(model)
        page = Page(text)
        for tag, attributes in page.tags:
            for name in ("src", "srcset", "data", "poster", "action", "background", "ping"):
                assert name not in attributes, (tag, name)
            if tag == "link":
                assert attributes["href"].startswith("data:")
            elif tag == "a":
                link = attributes["href"]
                assert link.startswith("#") or link == "https://arxiv.org/abs/2305.15394"
            else:
                assert "href" not in attributes
        style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)[1]
        assert "url(" not in style
        assert "@import" not in style


@pytest.mark.parametrize("name", ["hostile_model", "hostile_number"])
def test_only_the_pages_own_script_may_run(request, name):
    page = Page(html_report(request.getfixturevalue(name)))
    policy = next(a["content"] for t, a in page.tags if a.get("http-equiv"))
    runnable = [script for attributes, script in page.scripts if "type" not in attributes]
    assert len(page.scripts) == 2
    (script,) = runnable
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{digest}'" in policy
    assert "unsafe-eval" not in policy


@pytest.mark.parametrize("name", ["hostile_model", "hostile_number"])
def test_no_tag_or_handler_comes_from_a_model(request, name, hand_made):
    hostile_model = request.getfixturevalue(name)
    known = {tag for tag, _ in Page(html_report(hand_made())).tags} | {"details", "summary"}
    page = Page(html_report(hostile_model))
    assert {tag for tag, _ in page.tags} - {"div", "ul", "li", "option"} <= known
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert "\u202e" not in html_report(hostile_model)
    assert "49" not in [text.strip() for text in page.texts]  # {{ 7*7 }} is not computed


def test_the_data_is_json_that_cannot_end_its_script():
    text = json_for_html_script({"</script>": ["<!--", "&", "\u2028", "é"]})
    assert text.isascii()
    assert not set("<>&") & set(text)
    assert json.loads(text) == {"</script>": ["<!--", "&", "\u2028", "é"]}


@pytest.mark.slow
def test_the_model_alone_is_needed(adult_model, tmp_path, monkeypatch):
    adult_model.save(tmp_path / "model.json")
    expected = html_report(adult_model)
    monkeypatch.chdir(tmp_path)
    assert html_report(load("model.json")) == expected


@pytest.mark.slow
def test_a_fitted_classifier_will_do(hand_made):
    schema = Schema({"x": Numeric(0, 1)}, ["a", "b"])
    learner = PrivaTreeClassifier(1.0, max_depth=1, schema=schema, random_state=0)
    learner.fit(np.array([[0.1], [0.9]]), ["a", "b"])
    assert html_report(learner) == html_report(learner.model_)
    with pytest.raises(TypeError, match="model must be"):
        html_report("model.json")


@pytest.mark.slow
def test_the_same_model_has_the_same_fingerprint(adult_model, hand_made, tmp_path):
    adult_model.save(tmp_path / "model.json")
    assert fingerprint(load(tmp_path / "model.json")) == fingerprint(adult_model)
    assert re.fullmatch("[0-9a-f]{64}", fingerprint(adult_model))
    assert fingerprint(hand_made()) != fingerprint(hand_made(epsilon=0.6))
    assert fingerprint(adult_model) in html_report(adult_model)


# --- what it says ---------------------------------------------------------------------------------


def test_a_sound_model(hand_made):
    page = Page(html_report(hand_made()))
    assert "No privacy guarantee" not in page.shown
    assert "at most 1.65 times as likely" in page.shown
    assert "If size is at most 0.3 and age is at most 64, predict low" in page.shown
    assert "by hand" in page.shown
    assert not [a for t, a in page.tags if a.get("class", "").startswith("alert")]


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (
            Target(0, 60, name="days"),
            ["A decision tree of 3 leaves that predicts days", "0 to 60 numbers;"],
        ),
        (
            Target(0, 60, integer=True),
            ["that predicts a number", "intervals of the target", "Target whole number, to be"],
        ),
        (Target(0, 60, log=True), ["learned as a logarithm", "0 to 60, learned as a logarithm"]),
    ],
    ids=["name", "whole", "log"],
)
def test_the_words_for_a_number(hand_made_number, target, said):
    text = html_report(hand_made_number(target))
    page = Page(text)
    for one in said:
        assert one in page.shown
    assert "predict 2.5 (95% from 0 to 2" in page.shown
    assert "class" not in page.shown.replace("BibTeX", "").lower()
    title = f"A private decision tree · {target.name or 'the target'}"
    assert re.search("<title>(.*)</title>", text)[1] == title


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (
            {"epsilon": float("inf"), "leaks": (Leak("purity stop", "it tells"),)},
            ["No privacy guarantee", "purity stop", "nothing is promised", "no certificate"],
        ),
        (
            {"epsilon": 14.0, "claimed_epsilon": 1.0},
            ["The claimed epsilon of 1 is not true", "epsilon 14 holds", "There is no certificate"],
        ),
        (
            {"seeded": True},
            ["The noise was not secret", "only if the seed stays unknown", "nothing is guaranteed"],
        ),
        ({"neighbours": "replace"}, ["There is no certificate", "same size"]),
        ({"epsilon": 9.0}, ["Epsilon 9 is large"]),
    ],
)  # fmt: skip
def test_what_is_not_sound_is_said_aloud(hand_made, statement, said):
    shown = Page(html_report(hand_made(**statement))).shown
    for text in said:
        assert text in shown


def test_plain_words_for_what_a_leaf_has(hand_made):
    shown = Page(html_report(hand_made())).shown
    assert "each leaf has their probabilities" in shown
    assert "Records per leaf were not counted." in shown
    builder = TreeBuilder(Schema({"x": Numeric(0, 1)}, ["no", "yes"]))
    builder.leaf(builder.root, 0, None, [1200, 34], 46)
    tree = builder.build()
    page = Page(html_report(Model(tree.schema, tree, PrivacyStatement("L", epsilon=1.0))))
    assert "each leaf has one, without probabilities" in page.shown
    assert "Always predict no. About 1,234 (± 46) records." in page.shown
    assert "with a probability of 5%" in page.shown
    assert "not counted" not in page.shown
    assert "few or no records" not in page.shown


def test_the_page_has_the_names_and_the_number_of_records(hand_made):
    model = hand_made(noisy_records=1234, records_error=100)
    about = About(
        title="Falls <in> hospital",
        target="fell",
        description="One row per stay.",
        intended_use="For planning.",
        owner="Quality office",
        date="2026-11-18",
    )
    schema = replace(model.schema_, about=about)
    named = Model(schema, replace(model.tree_, schema=schema), model.privacy_)
    page = Page(html_report(named))
    top = page.shown[: page.shown.index("Enter the values")]
    for text in about.to_dict().values():
        assert text in top
    assert (
        "Falls <in> hospital" in page.shown[: page.shown.index("Skip to")]
    )  # the title of the tab
    assert "Records, about 1,234 ± 100; the exact number stays private" in top
    assert "the noise hides" not in top
    few = Page(html_report(hand_made(noisy_records=-12, records_error=100))).shown
    assert "Records, about 0 ± 100" in few
    assert "the noise hides whether there were any" in few
    without = Page(html_report(hand_made())).shown
    assert "Records, about" not in without
    assert "Owner" not in without


def test_where_epsilon_went(hand_made):
    spends = tuple(Spend("noise", e, what, node=0) for e, what in ((0.125, "a"), (0.25, "b")))
    shown = Page(html_report(hand_made(spends=spends))).shown
    assert "0.375 of 0.5 was spent" in shown
    assert "not spent 0.125" in shown


def test_the_papers_learner_is_cited(paper_model):
    shown = Page(html_report(paper_model)).shown
    assert "The learner is the paper's" in shown
    assert "arXiv:2305.15394" in shown


def test_the_citation_is_that_of_the_project():
    cff = Path(__file__).parents[2] / "CITATION.cff"
    text = cff.read_text(encoding="utf-8")
    assert f"version: {privatree.__version__}" in text
    for part in ("The privatree developers", "BSD-3-Clause"):
        assert part in text
        assert part in citation.SOFTWARE
    names = re.findall(r"family-names: (.+)\n\s+given-names: (.+)", text)
    assert len(names) == 5
    for family, given in names:
        assert f"{given} {family}" in citation.PAPER
    assert citation.PAPER_ID in text
    assert citation.PAPER_ID in citation.PAPER_BIBTEX
    title = re.search(r"type: article\n\s+title: (.+)", text)[1]
    assert title in citation.PAPER
    assert title in citation.PAPER_BIBTEX


# --- certificates ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_certificate_is_marked_as_not_private(adult_model, tmp_path):
    certificate = certificate_for(load_again(adult_model, tmp_path).privacy_)
    text = html_report(adult_model, certificate)
    shown = Page(text).shown
    assert "This page is not private" in shown
    assert "do not publish this page" in shown
    assert "0.8432" in shown
    assert "4321 records" in shown
    assert "from a model file alone" not in shown
    assert "4321" not in Page(html_report(adult_model)).shown


def load_again(model, folder):
    model.save(folder / "again.json")
    return load(folder / "again.json")


def test_a_certificate_must_be_of_the_same_learner(adult_model, hand_made, tmp_path):
    privacy = load_again(adult_model, tmp_path).privacy_
    other = PrivacyStatement.from_dict(privacy.to_dict() | {"learner": "Another"})
    with pytest.raises(ParameterError, match="its learner differs: Another"):
        html_report(adult_model, certificate_for(other))
    twice = PrivacyStatement.from_dict(privacy.to_dict() | {"schedule": None})
    with pytest.raises(ParameterError, match="its schedule differs"):
        html_report(adult_model, certificate_for(twice))
    with pytest.raises(ParameterError, match=r"its epsilon differs: 0\.25, not 0\.5"):
        html_report(hand_made(), certificate_for(hand_made(epsilon=0.25).privacy_))
    with pytest.raises(ParameterError, match="must be None for this model"):
        html_report(hand_made(neighbours="replace"), certificate_for(privacy))
    success = AttackSuccessCertificate(privacy, 0.1, 0.2, 0.99, 100, 50, 50, (1,))
    with pytest.raises(ParameterError, match="must be an AccuracyCertificate"):
        html_report(adult_model, success)


def test_a_certificate_of_a_number_is_one_of_its_error(hand_made_number, hand_made):
    model = hand_made_number()
    privacy = model.privacy_
    given = {"target_range": (1.0, 50.0), "estimate": 7.9, "clean_bound": 8.12345}
    figures = {"confidence": 0.99, "refits": 100, "n_train": 4321, "n_test": 1000, "poisoned": (1,)}
    own = ErrorCertificate(privacy, **given, **figures, majority=Majority(11, 9.5))
    shown = Page(html_report(model, own)).shown
    assert "This page is not private" in shown
    assert "an error of at most 8.124 expected without poison" in shown
    assert "lie in the range of the certificate" in shown
    data = json.loads(Page(html_report(model, own)).scripts[0][1])["certificate"]
    assert data["range"] == 49.0
    assert data["measured"] in data["starts"]
    assert 49.0 * (1 - data["measured"] / data["steps"]) == pytest.approx(8.124, abs=1e-4)
    without = Page(html_report(model))
    assert "how large the error of the learner is without poison" in without.shown
    assert "lie in the range of the target" in without.shown
    assert "Figures are rounded up" in without.shown
    assert json.loads(without.scripts[0][1])["certificate"]["range"] == 60.0
    other = ErrorCertificate(privacy, **given, **figures, majority=Majority(61, 9.5))
    for wrong in (other, replace(other, majority=Majority("text", 9.5))):
        with pytest.raises(ParameterError, match="median target in the certificate is not in"):
            html_report(model, wrong)
    with pytest.raises(ParameterError, match="must be an ErrorCertificate, because the model pre"):
        html_report(model, certificate_for(privacy))
    with pytest.raises(ParameterError, match="must be an AccuracyCertificate, because the model"):
        html_report(hand_made(), own)


# --- files of strangers ---------------------------------------------------------------------------


def a_full_tree(depth, schema):
    builder = TreeBuilder(schema)
    level = [builder.root]
    for step in range(depth):
        level = [
            child for node in level for child in builder.split_numeric(node, 0, 1 / (step + 2))
        ]
    for node in level:
        builder.leaf(node, 0)
    return builder.build()


@pytest.mark.slow
@pytest.mark.parametrize("of_number", [False, True])
def test_a_large_tree_takes_seconds(takes_at_most, number_tree, of_number):
    schema = Schema({"x": Numeric(0, 1)}, ["a", "b"])
    tree = a_full_tree(13, schema)
    kind = Model
    if of_number:
        tree, kind = number_tree(tree, random.Random(3)), RegressionModel
        assert tree.shares is not None
    model = kind(tree.schema, tree, PrivacyStatement(learner="L", epsilon=1.0))
    text = takes_at_most(10, lambda: html_report(model))
    assert "8,192 leaves" in text
    assert text.count('class="box') < 600


def test_long_names_are_cut_and_many_categories_are_typed():
    long = "x" * 100_000
    schema = Schema(
        {f"{long}1": Numeric(0, 1), f"{long}2": Categorical([f"{i}{long}" for i in range(40)]),
         "many": Categorical([f"category {i}" for i in range(1000)])},
        [f"{long}a", f"{long}b"],
    )  # fmt: skip
    builder = TreeBuilder(schema)
    left, right = builder.split_numeric(builder.root, 0, 0.5)
    for node, place in ((left, 1), (right, 2)):
        for child in builder.split_categories(node, place, [0, 1]):
            builder.leaf(child, place - 1)
    text = html_report(Model(schema, builder.build(), PrivacyStatement("L", epsilon=1.0)))
    assert len(text) < 400_000
    page = Page(text)
    assert [a["type"] for t, a in page.tags if a.get("id") == "f2"] == ["text"]
    assert "(no. 1)" in page.shown  # names that look alike when they are cut


def test_rules_that_name_too_many_categories_are_left_out():
    schema = Schema({"many": Categorical(list(range(5000)))}, ["a", "b"])
    builder = TreeBuilder(schema)
    node = builder.root
    for step in range(12):
        leaf, node = builder.split_categories(node, 0, range(step, 5000, 13))
        builder.leaf(leaf, 0)
    builder.leaf(node, 1)
    model = Model(schema, builder.build(), PrivacyStatement("L", epsilon=1.0))
    shown = Page(html_report(model)).shown
    assert "too many or too long to be listed" in shown


# --- words that must be true ----------------------------------------------------------------------


def test_a_bet_is_about_somebody_who_knows_all_other_records(adult_model):
    """Without that condition it is false: a tree tells much about people like somebody."""
    shown = Page(html_report(adult_model)).shown
    assert "An attacker who knows every other record has a belief" in shown
    assert "What the tree says about people like you is not bounded" in shown
    assert "A person with several records is promised less" in shown
    assert "whatever else that person knows" not in shown


def test_a_page_says_which_entries_were_read_from_the_records(adult_model):
    marked = adult_model.schema_.all_unconfirmed()
    leaky = replace(
        adult_model.privacy_, epsilon=math.inf, leaks=(Leak("schema read from the data", "so"),)
    )
    page = Page(html_report(Model(marked, replace(adult_model.tree_, schema=marked), leaky)))
    assert "these entries were read from the records, and nobody has confirmed" in page.shown
    assert "and was not read from the records" not in page.shown
    assert "and was not read from the records" in Page(html_report(adult_model)).shown


def test_a_certificate_of_other_labels_is_refused(adult_model, tmp_path):
    privacy = load_again(adult_model, tmp_path).privacy_
    own = certificate_for(privacy, majority=Majority("<=50K", 0.8))
    assert "The files do not tell whether" in Page(html_report(adult_model, own)).shown
    with pytest.raises(ParameterError, match="label in the certificate is not a class"):
        html_report(adult_model, certificate_for(privacy, majority=Majority("other", 0.8)))


# --- units ----------------------------------------------------------------------------------------


def test_a_page_for_units_says_once_what_a_unit_is(unit_model):
    text = html_report(unit_model)
    shown = Page(text).shown
    assert shown.count("A unit is all records of one patient_id.") == 1
    for said in (
        "for all records of one patient_id",
        "Units, about",
        "The number of units of a leaf is noisy",
        "An attacker who knows every other unit has a belief that your records are in the dataset",
        "An attacker adds units to the training data, or removes some.",
        "Units added or removed",
        "A changed unit counts as two.",
        "number of units",
    ):
        assert said in shown
    for of_records in (") records", "number of records", "your record.", "A changed record"):
        assert of_records not in shown
    data = json.loads(Page(text).scripts[0][1])
    assert data["certificate"]["edited"] == ["unit", "units"]
    assert all(support.endswith(" units") for support in data["support"].values())


def test_a_page_for_records_does_not_mention_units(adult_model):
    assert not re.search(r"\bunits?\b", Page(html_report(adult_model)).shown)


def test_a_certificate_must_be_for_the_same_unit(unit_model, tmp_path):
    privacy = load_again(unit_model, tmp_path).privacy_
    shown = Page(html_report(unit_model, certificate_for(privacy))).shown
    assert re.search(r"refits? on \d+ units, tested on \d+ records", shown)
    with pytest.raises(ParameterError, match="its unit differs: visit_id, not patient_id"):
        html_report(unit_model, certificate_for(replace(privacy, unit="visit_id")))
