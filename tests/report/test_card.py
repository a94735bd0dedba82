from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privatree import About, Model, RegressionModel
from privatree.model import TreeBuilder
from privatree.privacy import Leak, PrivacyStatement, Spend
from privatree.report import model_card
from privatree.schema import Categorical, Numeric, Schema, Target

HARMFUL = ["|", "```", "<script>alert(1)</script>", "a\n\n# b", "*x* _y_ [z](http://w) `q`", "&lt;",
           "$x$ ~~s~~ @user #1", "\\", "--- | ---", "\u202eabc", "![i](j)", "</pre>"]  # fmt: skip


def card_of(name: str, privacy: PrivacyStatement | None = None) -> tuple[str, Model]:
    """Of a model that calls everything by this name."""
    builder = TreeBuilder(Schema({name: Categorical([name, name + "2"]), "n": Numeric(0, 9)},
                                 [name, name + "3"]))  # fmt: skip
    left, right = builder.split_categories(builder.root, 0, [0])
    builder.leaf(left, 0)
    builder.leaf(right, 1)
    tree = builder.build()
    statement = privacy or PrivacyStatement(
        learner=name,
        epsilon=0.5,
        public=(name,),
        notes=(name,),
        spends=(Spend(mechanism=name, epsilon=0.25, purpose=name, node=0),),
    )
    model = Model(tree.schema, tree, statement)
    return model_card(model), model


def statement_in(card: str) -> PrivacyStatement:
    """As a program finds it that knows nothing else of Markdown."""
    (found,) = re.findall(r"^```json\n(.*?)\n```$", card, re.M | re.S)
    return PrivacyStatement.from_dict(json.loads(found))


def without_code(card: str) -> list[str]:
    """The lines outside blocks of code, by CommonMark's rules for fences."""
    lines, fence = [], ""
    for line in card.split("\n"):
        ticks = re.match(r"`{3,}", line)
        if fence:
            if ticks and set(line.strip()) == {"`"} and len(line.strip()) >= len(fence):
                fence = ""
        elif ticks:
            fence = ticks[0]
        else:
            lines.append(line)
    assert not fence
    return lines


def test_what_a_card_has(small_schema, small_tree) -> None:
    statement = PrivacyStatement("PrivaTreeClassifier", 0.5, public=("the schema",), seeded=True)
    card = model_card(Model(small_schema, small_tree(True), statement))
    assert card.startswith("---\nlibrary_name: privatree\n")
    headings = re.findall(r"^#+ .*", card, re.M)
    assert headings == [
        "# A decision tree with differential privacy, its noise not secret",
        "## Intended use",
        "## Tree",
        "## Rules",
        "## Privacy",
        "## What was assumed public",
        "## Limits",
        "## How to cite",
        "## Privacy statement for programs",
    ]
    assert "- If age is at most 37 and work is private, predict high (probability 75.0%)." in card
    assert "│  ├─ yes: predict low" in card
    assert "Epsilon 0.5" in card
    assert "- the schema" in card
    assert "The noise was not secret" in card
    assert "| work | 3 categories | private, state, none | none |" in card
    assert "4 leaves and 2 levels" in card
    assert statement_in(card) == statement


def test_without_a_guarantee_it_says_so() -> None:
    leak = Leak("schema <read>", "from the data")
    card, _ = card_of("x", PrivacyStatement("paper", float("inf"), leaks=(leak,)))
    assert "# A decision tree with no privacy guarantee" in card
    assert "- schema &lt;read&gt;: from the data" in card
    assert statement_in(card).epsilon == float("inf")


@pytest.mark.slow
@pytest.mark.parametrize("name", HARMFUL)
def test_a_name_cannot_break_the_card(name) -> None:
    harmless, _ = card_of("x")
    card, model = card_of(name)
    assert statement_in(card) == model.privacy_
    lines = without_code(card)
    assert len(lines) == len(without_code(harmless))
    outside = "\n".join(lines)
    assert "<" not in outside
    assert len(re.findall(r"^#", outside, re.M)) == len(re.findall(r"^#", harmless, re.M))
    rows = [line for line in lines if line.startswith("|")]
    assert [row.count("|") for row in rows] == [5] * 4
    for character in "*_[]`$~":  # none but our own, which are in every card
        mine = re.findall(rf"(?<!\\){re.escape(character)}", outside)
        own = re.findall(rf"(?<!\\){re.escape(character)}", "\n".join(without_code(harmless)))
        assert len(mine) == len(own), character


@pytest.mark.slow
@settings(max_examples=10)
@given(st.text(max_size=20))
def test_any_name(name) -> None:
    card, model = card_of(name)
    assert statement_in(card) == model.privacy_
    assert "<" not in "\n".join(without_code(card))


def test_a_large_tree_is_not_listed() -> None:
    builder = TreeBuilder(Schema({"x": Numeric(0, 1000)}, [0, 1]))
    node = builder.root
    for i in range(600):
        leaf, node = builder.split_numeric(node, 0, i + 0.5)
        builder.leaf(leaf, i % 2)
    builder.leaf(node, 0)
    tree = builder.build()
    card = model_card(Model(tree.schema, tree, PrivacyStatement("by hand", 1.0)))
    assert "Too large for this card" in card
    assert "Too many for this card" in card
    assert len(card) < 20_000


def test_how_to_cite_agrees_with_the_file_for_it() -> None:
    written = (Path(__file__).parents[2] / "CITATION.cff").read_text(encoding="utf-8")
    card, _ = card_of("x")
    cite = card[card.index("## How to cite") :]
    for family in re.findall(r"family-names: (.*)", written):
        assert family in cite
    for text in re.findall(
        r"^\s*(?:title|version|license|year|value): \"?(.*?)\"?$", written, re.M
    ):
        assert text in cite


def test_a_card_says_which_columns_were_read_from_the_records(small_schema, small_tree) -> None:
    marked = small_schema.all_unconfirmed()
    leaky = PrivacyStatement("x", math.inf, leaks=(Leak("schema read from the data", "so"),))
    card = model_card(Model(marked, replace(small_tree(False), schema=marked), leaky))
    assert (
        "**Read from the records, and not confirmed as public by anybody:** classes; 'age'" in card
    )
    assert "as they were declared" not in card
    sure = model_card(Model(small_schema, small_tree(False), PrivacyStatement("x", 1.0)))
    assert "as they were declared" in sure
    assert "Read from the records" not in sure
    assert sure.startswith("---\n")
    assert "# A decision tree with differential privacy\n" in sure


def test_a_card_has_the_names_and_the_number_of_records(small_schema, small_tree) -> None:
    about = About(
        title="Falls | in *hospital*",
        target="fell",
        description="One row per stay.\n\nAll wards.",
        intended_use="For planning.",
        owner="Quality office",
        date="2026-11-18",
    )
    schema = replace(small_schema, about=about)
    privacy = PrivacyStatement("a learner", 1.0, noisy_records=1234, records_error=100)
    card = model_card(Model(schema, replace(small_tree(), schema=schema), privacy))
    assert (
        "\n# Falls &#124; in \\*hospital\\*\n\nA decision tree with differential privacy." in card
    )
    assert (
        "Quality office, 2026-11-18.\n\nOne row per stay.\n\nAll wards.\n\nThe tree predicts"
        in card
    )
    assert " classes of fell (" in card
    assert "## Intended use\n\nFor planning.\n\n## Tree" in card
    assert "about 1,234 (± 100) usable records" in card
    few = replace(privacy, noisy_records=12)
    assert "the noise hides" in model_card(Model(small_schema, small_tree(), few))


def test_a_card_has_the_records_of_each_leaf(small_schema, small_tree) -> None:
    counts = np.zeros((7, 2), dtype=np.int64)
    tree = small_tree()
    counts[tree.leaves] = [[1200, 34], [-3, 5], [90, 0], [80, 0]]
    counted = replace(tree, noisy_counts=counts, support_error=np.where(tree.feature < 0, 46, 0))
    card = model_card(Model(small_schema, counted, PrivacyStatement("x", 1.0)))
    text, rules = card[: card.index("## Rules")], card[card.index("## Rules") :]
    assert ", about 1,234 (± 46) records\n" in text
    assert ", few or no records\n" in text
    assert ". About 1,234 (± 46) records.\n" in rules
    assert ". Few or no records.\n" in rules
    assert "larger than the number after ± with a probability of 5%" in card
    assert "not counted" not in card
    bare = model_card(Model(small_schema, tree, PrivacyStatement("x", 1.0)))
    assert bare.count("Records per leaf were not counted.") == 1
    assert " records\n" not in bare[: bare.index("## Rules")]


def test_a_card_of_a_number_has_its_range(hand_made_number) -> None:
    card = model_card(hand_made_number(Target(0, 60, integer=True, name="days | in")))
    assert card.startswith("---\nlibrary_name: privatree\npipeline_tag: tabular-regression\n")
    assert card.count("- tabular-regression\n") == 1
    assert "The tree predicts days &#124; in (a whole number from 0 to 60) for a record" in card
    assert "- If size is missing or at most 0.3, predict 2.5 (95% from 0 to 20)." in card
    assert "| days &#124; in | whole number, predicted | 0 to 60 | left out of training |" in card
    assert "class" not in card.lower()
    log = model_card(hand_made_number(Target(0, 60, log=True)))
    assert "predicts a number (a number from 0 to 60, learned as a logarithm)" in log


@pytest.mark.parametrize("name", [name for name in HARMFUL if len(name.splitlines()) == 1])
def test_the_name_of_a_number_cannot_break_the_card(name, hand_made_number) -> None:
    model: RegressionModel = hand_made_number(Target(0, 60, name=name))
    card, harmless = (
        without_code(model_card(one)) for one in (model, hand_made_number(Target(0, 60, name="x")))
    )
    assert len(card) == len(harmless)
    assert "<" not in "\n".join(card)
    rows = [line for line in card if line.startswith("|")]
    assert {row.count("|") for row in rows} == {5}


def test_a_card_for_units_speaks_of_units(unit_model: Model) -> None:
    card = model_card(unit_model)
    assert card.count("A unit is all records of one patient\\_id.") == 1
    for said in (
        "**Epsilon 1, for all records of one patient\\_id.**",
        "Numbers of units are noisy",
        "usable units, a noisy number",
        "The guarantee is for all records of one patient\\_id together.",
        "without their records.",
    ):
        assert said in card
    assert re.search(r"about \d+ \(± \d+\) units", card)
    assert ") records" not in card
    assert "for one record" not in card
