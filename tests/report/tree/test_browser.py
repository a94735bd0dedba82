"""The page in a real browser: it follows records as predict does, and asks for nothing."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from page_checks import CONTRASTS

from privatree import Model, RegressionModel, datasets
from privatree.export import share_text, value_text
from privatree.model import TreeBuilder
from privatree.privacy import Leak, PrivacyStatement
from privatree.report import html_report
from privatree.robustness import AccuracyCertificate, ErrorCertificate, best
from privatree.robustness.certificates import require_guarantee
from privatree.schema import Categorical, Numeric, Schema, Target


def follow(page, rows):
    """Types each record (None for missing) and reads the leaf, the label and the shares shown."""
    return page.evaluate(
        """(rows) => rows.map((row) => {
            for (const [place, value] of row) {
                const input = document.getElementById("f" + place);
                input.value = value === null ? "" : value;
            }
            document.getElementById("record").dispatchEvent(new Event("input"));
            const shown = document.getElementById("prediction");
            return {
                leaf: Number(shown.dataset.leaf),
                value: shown.dataset.value,
                label: shown.querySelector(".label").textContent,
                shares: [...shown.querySelectorAll(".share")].map((share) => share.textContent),
                on: [...document.querySelectorAll(".box.on")].map((box) => +box.dataset.node),
                answers: document.querySelectorAll("#steps .answer").length,
            };
        })""",
        rows,
    )


def typed(model, frame):
    """The records as they are typed in: codes in lists of choices, numbers to the last digit."""
    features = list(model.schema_.features.items())
    columns = []
    for place, position in enumerate(model.tree_.used_features):
        name, feature = features[position]
        categories = getattr(feature, "categories", None)
        columns.append(
            [
                (place, None if pd.isna(value)
                 else repr(value) if categories is None
                 else str(list(categories).index(value)) if value in categories else "other")
                for value in frame[name].tolist()
            ]
        )  # fmt: skip
    return [list(row) for row in zip(*columns, strict=True)]


def path_to(tree, leaf):
    parent = {int(c): n for n in range(tree.n_nodes) for c in (tree.left[n], tree.right[n])}
    path = [leaf]
    while path[-1] != 0:
        path.append(parent[path[-1]])
    return path


def check_agreement(page, model, frame):
    found = follow(page, typed(model, frame))
    leaves, outcomes, target = model.apply(frame), model.predict(frame), model.schema_.target
    shares = None if target is not None else model.predict_proba(frame)
    for row, shown in enumerate(found):
        assert shown["leaf"] == leaves[row]
        if target is not None:
            assert float(shown["value"]) == pytest.approx(outcomes[row], rel=1e-9, abs=0)
            assert shown["label"] == value_text(target, outcomes[row])
        else:
            assert shown["label"] == str(outcomes[row])
        assert sorted(shown["on"]) == sorted(path_to(model.tree_, int(leaves[row])))
        assert shown["answers"] == len(shown["on"]) - 1
        if shares is not None and model.tree_.probability is not None:
            expected = [
                f"{c}{share_text(share)}"
                for c, share in zip(model.classes_, shares[row], strict=True)
            ]
            assert sorted(shown["shares"]) == sorted(expected)
    assert len(set(leaves.tolist())) > 2  # else little was tried


# --- following records ----------------------------------------------------------------------------


def test_records_of_a_dataset_go_where_predict_sends_them(open_page, adult_model):
    frame, _, _ = datasets.load("adult")
    rows = frame.sample(60, random_state=0).astype(object).reset_index(drop=True)
    holes = np.random.default_rng(0).random(rows.shape) < 0.2
    rows = rows.mask(holes, None)
    features = adult_model.schema_.features
    rows = rows.astype(
        {name: "str" if hasattr(f, "categories") else "float64" for name, f in features.items()}
    ).mask(holes)
    check_agreement(open_page(adult_model), adult_model, rows)


def test_edges_of_thresholds_ranges_and_categories(open_page, hand_made):
    model = hand_made()
    sizes = [
        None,
        -99.0,
        -2.5,
        0.3,
        0.30000000000000004,
        0.30000000000000010,
        3.3,
        3.4,
        7.25,
        1e300,
    ]
    ages = [None, 64, 65]
    wards = [None, "surgery", "maternity", "other", "nowhere"]
    frame = pd.DataFrame(
        [(size, age, ward, True) for size in sizes for age in ages for ward in wards],
        columns=["size", "age", "ward", "unused"],
    ).astype({"ward": "object"})
    check_agreement(open_page(model), model, frame)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "target",
    [Target(-5.5, 1e6), Target(0, 30, integer=True), Target(0, 1e9, log=True)],
    ids=["number", "whole", "log"],
)
def test_random_trees_predict_the_numbers_of_predict(
    open_page, random_tree, number_tree, random_value, target, seed
):
    """With missing values, unknown categories and values on both sides of thresholds."""
    rng = random.Random(seed)
    tree = random_tree(rng)
    while tree.n_leaves < 5:
        tree = random_tree(rng)
    tree = number_tree(tree, rng, target)
    model = RegressionModel(tree.schema, tree, PrivacyStatement("by hand", epsilon=0.5))
    columns = {}
    for name, feature in tree.schema.features.items():
        drawn = [random_value(rng, feature, tree) for _ in range(40)]
        if isinstance(feature, Categorical):  # codes, of which some are of no category
            known = range(len(feature.categories))
            drawn = [
                feature.categories[int(code)] if code in known
                else None if np.isnan(code) else "elsewhere"
                for code in drawn
            ]  # fmt: skip
        else:
            drawn = [value if np.isfinite(value) else None for value in drawn]
        columns[name] = pd.Series(drawn, dtype=object)
    check_agreement(open_page(model), model, pd.DataFrame(columns))


def test_records_of_a_dataset_get_the_numbers_of_predict(open_page, hours_model):
    frame, _, _ = datasets.load("adult")
    rows = frame.sample(60, random_state=0).reset_index(drop=True)
    check_agreement(open_page(hours_model), hours_model, rows)


def test_missing_values_with_a_place_of_their_own(open_page):
    schema = Schema(
        {
            "size": Numeric(-2, 7, missing="separate"),
            "ward": Categorical(["surgery", "maternity"], missing="separate"),
        },
        ["low", "high"],
    )
    builder = TreeBuilder(schema)
    small, large = builder.split_numeric(builder.root, 0, 0.25)
    missing, present = builder.split_numeric(small, 0, -np.inf)
    gone, there = builder.split_categories(large, 1, [2])
    some, others = builder.split_categories(missing, 1, [0, 2])
    for leaf, label in ((present, 0), (gone, 1), (there, 0), (some, 1), (others, 0)):
        builder.leaf(leaf, label)
    tree = builder.build()
    model = Model(schema, tree, PrivacyStatement("by hand", epsilon=0.5, public=("all",)))
    sizes, wards = [None, -99.0, 0.0, 0.25, 0.3, 99.0], [None, "surgery", "maternity", "nowhere"]
    frame = pd.DataFrame([(s, w) for s in sizes for w in wards], columns=["size", "ward"])
    page = open_page(model)
    check_agreement(page, model, frame.astype({"ward": "object"}))
    follow(page, typed(model, pd.DataFrame({"size": [None], "ward": ["nowhere"]})))
    steps = page.locator("#steps").inner_text().replace("\n", " ")
    assert "size is missing or ≤ 0.25" in steps
    assert "size is missing" in steps
    assert "ward is missing or in {surgery}" in steps
    assert page.locator("#h1 .said").inner_text() == "counts as missing"
    assert "may be missing" in page.locator("#h0").inner_text()


def test_typing_shows_the_way_at_once(open_page, hand_made):
    page = open_page(hand_made())
    assert page.locator("#path").is_hidden()
    page.fill("#f0", "200")
    assert page.locator("#h0 .said").inner_text() == "counts as 7.25"
    page.select_option("#f2", label="maternity")
    assert page.locator("#prediction .label").inner_text() == "high"
    assert "75.0%" in page.locator("#prediction").inner_text()
    assert "maternity" in page.locator("#steps").inner_text()
    assert page.locator(".rules li.on").count() == 1
    assert page.locator("#prediction").get_attribute("aria-live") == "polite"
    page.click("#clear")
    page.locator("#path").wait_for(state="hidden")
    assert page.locator(".box.on").count() == 0
    page.click("#made-up")
    assert page.locator("#prediction .label").count() == 1


def test_a_leaf_tells_its_rule(open_page, hand_made):
    page = open_page(hand_made())
    page.locator(".box.leaf").nth(1).click()
    assert page.locator("#sentence").inner_text() == (
        "If size is at most 0.3 and age is at least 65, predict middle (probability 75.0%)."
    )
    assert page.locator(".box.on").count() == 3
    assert page.locator(".box.leaf").nth(1).get_attribute("aria-pressed") == "true"
    page.locator(".box.split").first.click()
    assert page.locator("#sentence").is_hidden()
    assert "No record is followed" in page.locator("#prediction").inner_text()


def test_a_leafs_answer_is_not_taken_for_a_records(open_page, hand_made):
    page = open_page(hand_made())
    shown = page.locator("#prediction")
    of_record, of_leaf = "Prediction for this record:", "This leaf predicts"
    page.fill("#f1", "70")
    assert of_record in shown.inner_text()
    page.locator(".box.leaf").first.click()
    assert of_leaf in shown.inner_text()
    assert "the fields above have no effect" in shown.inner_text()
    assert of_record not in shown.inner_text()
    assert shown.get_attribute("data-leaf") is None
    page.fill("#f1", "71")
    assert of_record in shown.inner_text()
    assert of_leaf not in shown.inner_text()
    assert "of-leaf" not in shown.get_attribute("class")


def test_a_broken_value_of_a_whole_feature_is_compared_as_it_is(open_page):
    """As predict does; a threshold between whole numbers is then shown to the last digit."""
    schema = Schema({"age": Numeric(0, 120, integer=True, cuts=[64.5])}, ["low", "high"])
    builder = TreeBuilder(schema)
    young, old = builder.split_numeric(builder.root, 0, 64.5)
    builder.leaf(young, 0)
    builder.leaf(old, 1)
    model = Model(schema, builder.build(), PrivacyStatement("by hand", epsilon=1.0))
    page = open_page(model)
    for value in ("64.2", "64.5", "64.7"):
        page.fill("#f0", value)
        (expected,) = model.predict(pd.DataFrame({"age": [float(value)]}))
        assert page.locator("#prediction .label").inner_text() == expected
        assert "not a whole number: compared without rounding" in page.locator("#h0").inner_text()
        assert "≤ 64.5" in page.locator("#steps").inner_text()
    page.fill("#f0", "64")
    assert page.locator("#h0 .said").inner_text() == ""
    assert "64.5" not in page.locator("#steps").inner_text()
    page.fill("#f0", "200.5")
    assert page.locator("#h0 .said").inner_text() == "counts as 120"


def test_a_tree_of_one_leaf_asks_nothing(open_page):
    builder = TreeBuilder(Schema({"x": Numeric(0, 1)}, ["no", "yes"]))
    builder.leaf(builder.root, 1)
    tree = builder.build()
    page = open_page(Model(tree.schema, tree, PrivacyStatement("by hand", epsilon=1.0)))
    assert "every record gets the same answer" in page.locator("#tree").inner_text()
    for _ in range(2):
        page.locator(".box.leaf").click()
        assert page.locator("#sentence").inner_text() == "Always predict yes."


def test_the_keyboard_is_enough(open_page, hand_made):
    page = open_page(hand_made())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.focus("#f1")
    page.keyboard.type("70")
    page.keyboard.press("Shift+Tab")
    page.keyboard.type("0")
    assert page.locator("#prediction .label").inner_text() == "middle"
    page.focus("#clear")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "zoom-out"
    page.focus("#zoom-fit")
    page.keyboard.press("Tab")
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    assert page.locator("#drawing [tabindex='0']").count() == 1
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    assert "at least 65" in page.locator("#sentence").inner_text()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Space")
    assert page.locator("#path-title").inner_text() == "The path to this question"
    page.focus("#poison summary")
    page.keyboard.press("Enter")
    before = page.locator("#edits-shown").inner_text()
    page.focus("#edits")
    page.keyboard.press("ArrowRight")
    assert page.locator("#edits-shown").inner_text() != before
    assert "records" in page.locator("#edits").get_attribute("aria-valuetext")


# --- numbers --------------------------------------------------------------------------------------


def test_a_leaf_shows_how_its_numbers_are_distributed(open_page, hand_made_number):
    page = open_page(hand_made_number(Target(0, 60, integer=True, name="days")))
    assert page.locator("#spread").is_hidden()
    page.locator(".box.leaf").nth(1).click()
    rows = [" ".join(text.split()) for text in page.locator("#spread-rows li").all_inner_texts()]
    assert rows == [
        "0 to 2 0.0%",
        "3 to 10 10.0%",
        "11 to 20 60.0% predicted",
        "21 to 60 30.0%",
    ]
    assert page.locator("#spread-title").inner_text() == (
        "How days is distributed in this leaf, roughly and with noise"
    )
    said = page.locator("#spread-note").inner_text()
    assert "Most records: 90% from 11 to 60." in said
    assert "A share below about 12.9% can be nothing but noise. Shares are coarse, too" in said
    assert said.endswith("The prediction is a mean: single records can be far from it.")
    assert "days" in page.locator("#prediction").inner_text()
    page.locator(".box.split").first.click()
    assert page.locator("#spread").is_hidden()


def test_a_leaf_with_few_or_no_records_shows_no_distribution(open_page, hand_made_number):
    page = open_page(hand_made_number())
    leaf = page.locator(".box.leaf").nth(2)
    assert leaf.locator(".columns-of-leaf").count() == 0
    assert "unsupported" in leaf.get_attribute("class")
    leaf.click()
    assert page.locator("#spread-rows li").count() == 0
    assert "No more records than noise explains" in page.locator("#spread-note").inner_text()
    heights = (
        page.locator(".box.leaf")
        .first.locator(".columns-of-leaf span")
        .evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().height)")
    )
    assert [height / max(heights) for height in heights] == pytest.approx(
        [0.4, 1, 0.5, 0.1], abs=0.05
    )


def test_a_larger_number_has_a_darker_leaf(open_page, hours_model):
    page = open_page(hours_model)
    tree = hours_model.tree_
    brightness = dict(page.locator(".box.leaf").evaluate_all(
        """(all) => all.map((box) => {
            const canvas = new OffscreenCanvas(1, 1).getContext("2d");
            canvas.fillStyle = getComputedStyle(box).backgroundColor;
            canvas.fillRect(0, 0, 1, 1);
            const [r, g, b] = canvas.getImageData(0, 0, 1, 1).data;
            return [+box.dataset.node, r + g + b];
        })"""
    ))  # fmt: skip
    ordered = sorted(brightness, key=lambda leaf: tree.value[leaf])
    assert all(brightness[one] > brightness[other] for one, other in pairwise(ordered))
    legend = page.locator(".legend").inner_text()
    assert "27.6" in legend
    assert "51.46" in legend


# --- folding and zooming --------------------------------------------------------------------------


def deep_model(counts=True):
    """A full tree of eight levels; nearly all records are in the first and the last leaf."""
    schema = Schema({"x": Numeric(0, 1), "a longer name": Numeric(0, 1)}, ["no", "yes"])
    builder, level = TreeBuilder(schema), [0]
    for step in range(8):
        level = [
            child
            for node in level
            for child in builder.split_numeric(node, step % 2, 1 / (step + 2))
        ]
    for place, leaf in enumerate(level):
        number = 9000 if place in (0, 255) else 100 if place < 128 else 3
        noisy = [number, 0] if counts else None
        builder.leaf(leaf, place % 2, [0.75, 0.25], noisy, 10 if counts else 0)
    return Model(schema, builder.build(), PrivacyStatement("by hand", epsilon=1.0))


def seen(page, part=".box"):
    return page.locator(f"#drawing {part}").evaluate_all(
        "(all) => all.filter((one) => one.checkVisibility()).map((one) => +one.dataset.node)"
    )


def fits(page):
    """Whether nothing of the drawing is beyond its right side."""
    return page.locator("#drawing").evaluate(
        "(drawing) => drawing.scrollWidth <= drawing.clientWidth"
    )


def size(page, part="#drawing .box.split"):
    return page.locator(part).first.bounding_box()["height"]


def test_a_deep_tree_opens_on_the_branches_with_most_records_and_fits(open_page):
    model = deep_model()
    tree = model.tree_
    first, last = tree.leaves[[0, -1]].tolist()
    page = open_page(model)
    assert {first, last} <= set(seen(page, ".box.leaf"))
    assert len(seen(page)) < 50
    assert fits(page)
    box, around = (
        page.locator(part).first.bounding_box() for part in ("#drawing .box", "#drawing")
    )
    assert box["y"] - around["y"] < 60  # the root is at the top, and not in the middle of nothing
    assert box["x"] - around["x"] < 60
    page.locator("#unfold").click()
    assert len(seen(page)) == tree.n_nodes
    assert fits(page)
    assert page.locator("#folds-said").inner_text() == ""
    page.locator("#refold").click()
    assert len(seen(page)) < 50
    n_leaves = len(seen(page, ".box.leaf"))
    assert page.locator("#folds-said").inner_text() == f"{n_leaves} of 256 leaves are shown."


def test_without_counts_the_upper_levels_are_open(open_page):
    page = open_page(deep_model(counts=False))
    assert set(range(7)) <= set(seen(page))
    assert "Records per leaf were not counted." in page.locator("#tree").inner_text()
    assert page.locator("#refold").inner_text() == "Fold to the upper levels"
    assert page.locator(".support").count() == 0


def test_a_split_folds_and_unfolds_by_mouse_and_by_key(open_page, hand_made):
    page = open_page(hand_made())
    root = page.locator(".box[data-node='0']")
    button = page.locator("#drawing .fold").first
    assert seen(page) == [0, 1, 3, 4, 2, 5, 6, 7, 8]
    assert root.get_attribute("aria-expanded") == "true"
    assert button.get_attribute("aria-label") == "Fold 5 leaves"
    button.click()
    assert seen(page) == [0]
    assert root.get_attribute("aria-expanded") == "false"
    assert button.inner_text() == "+ 5 leaves"
    assert button.get_attribute("aria-label") == "Unfold 5 leaves"
    root.focus()
    page.keyboard.press("ArrowRight")  # unfolds, and then goes on
    assert seen(page) == [0, 1, 3, 4, 2, 5, 6, 7, 8]
    page.keyboard.press("ArrowRight")
    page.keyboard.press("-")
    assert seen(page) == [0, 1, 2, 5, 6, 7, 8]
    page.keyboard.press("ArrowDown")  # past what is folded
    assert page.evaluate("document.activeElement.dataset.node") == "2"
    page.keyboard.press("ArrowUp")
    page.keyboard.press("+")
    assert seen(page) == [0, 1, 3, 4, 2, 5, 6, 7, 8]


def test_the_path_of_a_record_is_unfolded_and_folds_again(open_page):
    model = deep_model()
    page = open_page(model)
    before = seen(page)
    leaf = next(leaf for leaf in model.tree_.leaves.tolist() if leaf not in before)
    hidden = page.locator(f".box[data-node='{leaf}']")
    hidden.evaluate("(box) => box.click()")
    assert hidden.is_visible()
    assert page.locator(".box.on").count() == 9
    page.click("#clear")
    page.locator("#path").wait_for(state="hidden")
    assert seen(page) == before


def test_the_drawing_is_zoomed(open_page):
    page = open_page(deep_model())
    fit, height = page.locator("#zoom-fit"), size(page)
    assert fit.get_attribute("aria-pressed") == "true"
    for _ in range(3):
        page.locator("#zoom-in").click()
    assert size(page) > 1.5 * height
    assert fit.get_attribute("aria-pressed") == "false"
    assert not fits(page)
    page.locator("#drawing.more-right").wait_for()  # its edge is faded where there is more
    page.locator("#zoom-out").click()
    page.locator("#zoom-out").focus()
    for _ in range(4):
        page.keyboard.press("Enter")
    assert size(page) < height
    fit.click()
    assert size(page) == pytest.approx(height, abs=0.5)
    assert fits(page)


def test_a_leaf_without_support_is_grey(open_page):
    page = open_page(deep_model())
    page.locator("#unfold").click()
    texts = page.locator("#drawing .box.leaf").evaluate_all(
        """(all) => all.map((box) => [box.querySelector(".support").textContent,
            box.classList.contains("unsupported"), getComputedStyle(box).color])"""
    )
    few = {colour for text, grey, colour in texts if text == "few or no records" and grey}
    many = {colour for text, grey, colour in texts if text.startswith("about ") and not grey}
    assert len(few) == len(many) == 1
    assert few.isdisjoint(many)
    assert sum(text == "few or no records" for text, _, _ in texts) == 127
    assert "Do not rely on its answer" in page.locator("#tree").inner_text()


def test_a_rounded_threshold_does_not_mislead(open_page):
    """The text has few digits; for a value between them and the threshold it has all."""
    schema = Schema({"income": Numeric(0, 1e6)}, ["low", "high"])
    builder = TreeBuilder(schema)
    low, high = builder.split_numeric(builder.root, 0, 117187.5)
    builder.leaf(low, 0)
    builder.leaf(high, 1)
    model = Model(schema, builder.build(), PrivacyStatement("by hand", epsilon=1.0))
    page = open_page(model)
    assert page.locator(".box.split").inner_text().replace("\xa0", " ") == "income ≤ 117000"
    for value, said in (("117000", "≤ 117000"), ("117100", "≤ 117187.5"), ("118000", "≤ 117000")):
        page.fill("#f0", value)
        (expected,) = model.predict(pd.DataFrame({"income": [float(value)]}))
        assert page.locator("#prediction .label").inner_text() == expected
        assert said in page.locator("#steps").inner_text()


# --- poison ---------------------------------------------------------------------------------------


def test_poison_is_folded_away_without_a_certificate(open_page, hand_made):
    page = open_page(hand_made())
    assert page.locator("#poison-box").is_hidden()
    assert page.locator("nav a[href='#poison']").count() == 0
    page.click("#poison summary")
    assert page.locator("#poison-box").is_visible()


def test_the_largest_number_is_never_about_poison(open_page, hand_made):
    model = hand_made()
    privacy = PrivacyStatement.from_dict(model.privacy_.to_dict())
    certificate = AccuracyCertificate(privacy, 0.9, 0.8765, 0.99, 100, 777, 50, (1,))
    sizes = """(part) => Math.max(...[...document.querySelectorAll(part + " *")]
        .map((one) => parseFloat(getComputedStyle(one).fontSize)))"""
    for given in (None, certificate):
        page = open_page(model, given)
        page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        assert page.evaluate(sizes, "#poison") < page.evaluate(sizes, ".fact.epsilon")


def test_the_slider_shows_bounds_that_hold(open_page, adult_model):
    page = open_page(adult_model)
    page.click("#poison summary")
    spending = require_guarantee(adult_model.privacy_)
    shown = page.evaluate(
        """() => {
            const start = document.getElementById("start");
            const edits = document.getElementById("edits"), found = [];
            for (const value of ["0.9", "85%", "0,777", "0.9999"]) {
                start.value = value;
                for (let place = 0; place <= Number(edits.max); place += 9) {
                    edits.value = String(place);
                    edits.dispatchEvent(new Event("input"));
                    found.push([value, document.getElementById("edits-shown").textContent,
                        Number(document.getElementById("figure").dataset.steps),
                        document.querySelector("#figure .big").textContent]);
                }
            }
            return found;
        }"""
    )
    accuracy = {"0.9": 0.9, "85%": 0.85, "0,777": 0.777, "0.9999": 0.9999}
    for value, edits, units, text in shown:
        exact = best(spending, accuracy[value], int(edits.replace(",", ""))).value
        assert units / 10_000 <= exact + 1e-12
        assert float(text.rstrip("%")) == pytest.approx(units / 100)
        if value == "0.9":
            assert exact - units / 10_000 < 0.01
    assert len({units for _, _, units, _ in shown}) > 10


def test_a_wrong_accuracy_is_asked_for_again(open_page, hand_made):
    page = open_page(hand_made())
    page.click("#poison summary")
    for wrong in ("abc", "1.5", "-0.2", "1e-3", "%", "."):
        page.fill("#start", wrong)
        assert page.locator("#start").get_attribute("aria-invalid") == "true"
        assert "from 0 to 1, such as 0.85" in page.locator("#start-hint").inner_text()
        assert page.locator("#figure .big").inner_text() == "–"
    page.fill("#start", "0.843")
    assert page.locator("#start").get_attribute("aria-invalid") == "false"
    assert "Read as 84%" in page.locator("#start-hint").inner_text()


def test_nothing_is_claimed_of_an_accuracy_that_nobody_gave(open_page, adult_model):
    """In the figure and in the curve: an example, then an assumption; and nothing on paper."""
    page = open_page(adult_model)
    page.click("#poison summary")
    figure, curve = page.locator("#figure"), page.locator("#curve")
    big = figure.locator(".big").inner_text()
    edits = page.locator("#edits-shown").inner_text()
    assert " ".join(figure.inner_text().split()).startswith(
        "EXAMPLE If 90% of predictions were right on average without poison "
        f"(an example, not measured), then at least {big} "
        f"would be right on average with {edits} records added or removed."
    )
    assert curve.locator(".whose").text_content() == "Example: if it were 90% without poison"
    assert page.locator("#curve-example").is_visible()
    page.emulate_media(media="print")
    assert page.locator("#poison").is_hidden()
    page.emulate_media(media="screen")
    assert page.locator("#start").input_value() == ""
    assert page.locator("#start").get_attribute("aria-invalid") == "false"
    assert "Nothing is typed in" in page.locator("#start-hint").inner_text()
    as_example = figure.get_attribute("data-steps")

    page.fill("#start", "90%")
    assert " ".join(figure.inner_text().split()).startswith(
        "If 90% of predictions are right on average without poison "
        "(your assumption, not measured), then at least"
    )
    assert "example" not in page.locator("#poison-box").inner_text().lower()
    assert "(assumed)" in curve.locator(".whose").text_content()
    assert curve.get_attribute("aria-label").startswith("If it is 90% without poison")
    assert figure.get_attribute("data-steps") == as_example


def test_a_certificates_accuracy_is_marked_wherever_it_shows(open_page, hand_made):
    model = hand_made()
    privacy = PrivacyStatement.from_dict(model.privacy_.to_dict())
    certificate = AccuracyCertificate(privacy, 0.9, 0.8765, 0.99, 100, 777, 50, (1,))
    page = open_page(model, certificate)
    page.fill("#edits", "0")
    assert page.locator("#figure .big").inner_text() == "87.65%"
    assert page.locator("#figure .badge").inner_text().lower() == "not private"
    assert page.locator("#curve-badge").is_visible()
    assert page.locator("#start").is_disabled()
    assert "If" not in page.locator("#figure").inner_text()
    assert page.locator("#curve .whose").count() == 0
    page.check("input[value=typed]")
    assert page.locator("#figure .big").inner_text() == "90%"
    assert page.locator("#figure .badge").all_inner_texts() == ["EXAMPLE"]
    assert page.locator("#curve-badge").is_hidden()


def test_the_slider_shows_errors_that_hold(open_page, hours_model):
    """In the unit of the target, and rounded up."""
    privacy = PrivacyStatement.from_dict(hours_model.privacy_.to_dict())
    page = open_page(hours_model)
    page.click("#poison summary")
    assert "from 0 to 100" in page.locator("#start-hint").inner_text()
    page.locator("#start").fill("100.5")
    assert page.locator("#start").get_attribute("aria-invalid") == "true"
    for typed_error in ("8", "0.37", "0.02"):
        page.fill("#start", typed_error)
        certificate = ErrorCertificate(
            privacy, float(typed_error), float(typed_error), 0.99, 100, 777, 50, (1,),
            target_range=(0.0, 100.0),
        )  # fmt: skip
        for place in range(6):
            page.fill("#edits", str(place))
            edits = int(page.locator("#edits-shown").inner_text().replace(",", ""))
            exact = certificate.guarantee(edits)
            shown = float(page.locator("#figure .big").inner_text())
            assert exact - 1e-9 <= shown <= max(1.15 * exact, 0.011)
    assert "of hours-per-week is" in page.locator("#figure").inner_text()


def test_a_certificates_error_is_marked_wherever_it_shows(open_page, hours_model):
    privacy = PrivacyStatement.from_dict(hours_model.privacy_.to_dict())
    certificate = ErrorCertificate(
        privacy, 7.9, 8.1234, 0.99, 100, 777, 50, (1,), target_range=(1.0, 99.0)
    )
    page = open_page(hours_model, certificate)
    page.fill("#edits", "0")
    assert float(page.locator("#figure .big").inner_text()) == pytest.approx(8.124, abs=0.001)
    assert "largest expected error without poison" in page.locator("#figure").inner_text()
    page.fill("#edits", "1")
    shown = float(page.locator("#figure .big").inner_text())
    assert certificate.guarantee(1) <= shown <= 1.01 * certificate.guarantee(1)
    assert "not private" in page.locator("#figure .badge").inner_text().lower()
    assert "98" in page.locator("#curve").text_content()  # the largest error that is possible
    page.check("input[value=typed]")
    page.fill("#edits", "0")
    assert page.locator("#figure .big").inner_text() == "9.8"
    assert "error of hours-per-week were 9.8" in page.locator("#figure").inner_text()


# --- looks ----------------------------------------------------------------------------------------


# The contrast of every visible text with what is painted behind it.
def test_every_text_can_be_read(open_page, hand_made, hours_model, hand_made_number):
    leaks = (Leak("purity stop", "it tells"),)
    for model in (
        hand_made(seeded=True),
        hand_made(epsilon=float("inf"), leaks=leaks),
        deep_model(),
        hours_model,
        hand_made_number(),
    ):
        page = open_page(model)
        assert page.evaluate(CONTRASTS) == []
        page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        page.click("#made-up")
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate(CONTRASTS) == []


def test_dark_by_the_system_and_by_hand(open_page, hand_made):
    def look():
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return colour, page.locator("#theme").inner_text()

    page = open_page(hand_made())
    bright = look()
    page.emulate_media(color_scheme="dark")
    page.get_by_text("Switch to light").wait_for()  # the page hears of it a moment later
    dark = look()
    assert bright[1] == "Switch to dark"
    assert bright[0] != dark[0]
    page.click("#theme")
    assert look() == bright
    page.reload()
    assert look() == bright  # what was chosen is kept
    page.click("#theme")
    page.emulate_media(color_scheme="light")
    assert look() == dark  # chosen by hand: the system does not matter


def test_a_phone_does_not_scroll_sideways(
    open_page, adult_model, hostile_model, hours_model, hostile_number
):
    for model in (adult_model, hostile_model, hours_model, hostile_number):
        page = open_page(model, width=360)
        page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        page.click("#made-up")
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= page.evaluate("window.innerWidth")


@pytest.mark.parametrize("width", [390, 320])
def test_a_phone_shows_the_tree_as_an_indented_list(open_page, width):
    model = deep_model()
    page = open_page(model, width=width)
    assert fits(page)
    assert page.locator("#zoom-in").is_hidden()
    places = page.locator("#drawing .box").evaluate_all(
        """(all) => all.filter((box) => box.checkVisibility()).map((box) => {
            const { left, top, bottom, right } = box.getBoundingClientRect();
            const font = getComputedStyle(box.querySelector(".title")).fontSize;
            return [+box.dataset.node, left, top, bottom, right, parseFloat(font)];
        })"""
    )
    assert 20 < len(places) < 50
    depth = model.tree_.depths()
    for (_, _, _, bottom, _, _), (_, _, top, _, _, _) in pairwise(places):
        assert top >= bottom  # one below the other
    for node, left, _, _, right, font in places:
        assert right <= width
        assert right - left > 85  # wide enough for its text, also eight levels deep,
        assert font >= 13  # which is not small
        others = [place for place in places if depth[place[0]] == depth[node] - 1]
        assert all(left > other[1] for other in others)  # deeper levels are indented more
    page.locator("#drawing .fold").first.click()
    assert seen(page) == [0]


def test_what_is_wider_than_a_phone_has_a_faded_edge(open_page, adult_model):
    def faded(part):
        return page.locator(part).evaluate(
            """(part) => new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(
                [getComputedStyle(part).maskImage !== "none", part.scrollWidth > part.clientWidth]
            ))))"""
        )

    page = open_page(adult_model, width=360)
    assert faded("nav") == [False, False]  # all five names fit
    page.set_viewport_size({"width": 200, "height": 900})
    assert faded("nav") == [True, True]
    page.set_viewport_size({"width": 1280, "height": 900})
    assert faded("nav") == [False, False]


@pytest.mark.parametrize("name", ["adult_model", "hours_model"])
def test_paper_shows_everything_and_no_controls(open_page, request, name):
    model = request.getfixturevalue(name)
    page = open_page(model)
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    for control in (".bar", "#record", "#theme", "#tools", "#poison"):
        assert page.locator(control).is_hidden()
    assert page.locator("#drawing .fold:visible").count() == 0
    assert page.locator("#privacy pre").is_visible()
    assert len(seen(page)) == model.tree_.n_nodes  # nothing is folded on paper
    tops = page.locator(".fact").evaluate_all("(all) => all.map((one) => one.offsetTop)")
    assert len(set(tops)) == 1
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate(CONTRASTS) == []
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("#privacy details[open]").count() == 0


def test_without_scripts_the_page_still_tells_all_but_the_curve(browser, hand_made):
    page = browser.new_context(java_script_enabled=False).new_page()
    page.set_content(html_report(hand_made()))
    assert page.locator(".box.leaf").count() == 5
    assert page.locator(".rules li").count() == 5
    assert page.locator("noscript").count() == 2


# --- strangers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["hostile_model", "hostile_number"])
def test_names_are_shown_and_not_run(open_page, request, name):
    page = open_page(request.getfixturevalue(name))
    for _ in range(3):
        page.click("#made-up")
    page.locator(".box").last.click()
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    assert "</script><script>window.hacked=1</script>" in page.locator("#public").inner_text()


def test_a_model_without_a_guarantee_says_so_first(open_page, hand_made):
    page = open_page(hand_made(epsilon=float("inf"), leaks=(Leak("purity stop", "it tells"),)))
    alert = page.locator(".alert").first
    assert "No privacy guarantee" in alert.inner_text()
    assert alert.bounding_box()["y"] < 900
    assert page.locator(".fact.epsilon").inner_text().split()[1] == "∞"
    assert page.locator("#poison-box").count() == 0
    assert "There is no certificate" in page.locator("#poison").text_content()
