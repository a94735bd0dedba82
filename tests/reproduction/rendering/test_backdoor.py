"""Means over splits, bounds of the certificates at the rate without poison, and their figure."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from privatree import Categorical, Numeric, PrivaTreeClassifier, Schema
from privatree.baselines import methods
from privatree.reproduction.rendering._backdoor import (
    ACCURACY,
    COLUMNS,
    SUCCESS,
    backdoor_figure,
    backdoor_mean_rates,
)
from privatree.reproduction.rendering._guarantees import guarantee_spending
from privatree.reproduction.running._study import Available
from privatree.robustness import bounds

SCHEMA = Schema({"a": Numeric(0, 255, integer=True), "b": Categorical(["x", "y"])}, ["0", "1"])
DATASET = Available("mnist01", SCHEMA, "", "", 1000, 0.5)
EPSILON = 0.1


def cells(method: str, epsilon: float, rates: dict[int, list[float | None]]) -> pd.DataFrame:
    rows = [
        (*("mnist01", method, epsilon, 4), poisoned, repeat, *scores)
        for poisoned, found in rates.items()
        for repeat, rate in enumerate(found)
        for scores in [(math.nan, math.nan, "failed") if rate is None else (1 - rate / 2, rate, "")]
    ]
    names = ("dataset", "method", "epsilon", "depth", "poisoned", "repeat", "accuracy", "asr")
    return pd.DataFrame(rows, columns=[*names, "note"])


def figures_of(*parts: pd.DataFrame) -> Any:
    found = [methods.get(part["method"].iloc[0]) for part in parts]
    figures = backdoor_mean_rates(
        pd.concat(parts), methods=found, found=[DATASET], depth=4, n_training=800
    )
    assert tuple(figures.columns) == COLUMNS
    return figures


def values(figures: Any, poisoned: int) -> dict[str, float]:
    chosen = figures[figures["poisoned"] == poisoned]
    return dict(zip(chosen["figure"], chosen["value"], strict=True))


def test_means_and_errors() -> None:
    figures = figures_of(cells("decision-tree", math.nan, {8: [0.5, 0.75], 0: [0.0, 0.25]}))
    assert figures["figure"].tolist() == [ACCURACY, SUCCESS] * 2
    assert figures["poisoned"].tolist() == [0, 0, 8, 8]
    assert figures["share"].tolist() == [0, 0, 0.01, 0.01]
    assert values(figures, 8) == {ACCURACY: 0.6875, SUCCESS: 0.625}
    assert figures["standard_error"].tolist() == pytest.approx([0.0625, 0.125] * 2)
    assert figures["n"].tolist() == [2] * 4
    assert math.isnan(figures["epsilon"][0])


@pytest.mark.parametrize("method", ["privatree", "privatree-robust"])
def test_ours_has_every_bound_of_its_schedule(method: str) -> None:
    rates: dict[int, list[float | None]] = {0: [0.02, 0.04], 10: [0.9, 1.0], 40: [0.5, 0.6]}
    figures = figures_of(cells(method, EPSILON, rates))
    settings = {} if method == "privatree" else {"schedule": "robust"}
    classifier = PrivaTreeClassifier(EPSILON, max_depth=4, schema=SCHEMA, **settings)
    nothing = pd.DataFrame({"a": [], "b": []}, dtype=object)
    schedule = classifier.fit(nothing, pd.Series([], dtype=object)).privacy_.schedule
    for poisoned in rates:
        found = values(figures, poisoned)
        left = bounds(schedule, 1 - 0.03, poisoned)  # of the rate without poison, whatever it is
        assert list(found) == [ACCURACY, SUCCESS, *left]
        assert {"A", "B", "AB*", "C", "D", "E"} <= set(left)
        for letter, value in left.items():
            assert found[letter] == pytest.approx(1 - value, abs=1e-12)
    unpoisoned = values(figures, 0)
    assert [unpoisoned[letter] for letter in left] == pytest.approx([0.03] * len(left), abs=1e-9)


def test_the_paper_has_its_corollary_at_the_claimed_epsilon() -> None:
    figures = figures_of(cells("privatree-paper", EPSILON, {0: [0.2, 0.0], 7: [0.5, 0.5]}))
    assert values(figures, 7) == {
        ACCURACY: 0.75,
        SUCCESS: 0.5,
        "A": pytest.approx(1 - math.exp(-7 * EPSILON) * 0.9),
    }


def test_each_epsilon_has_its_own_bounds() -> None:
    small, large = (cells("privatree", epsilon, {0: [0.1], 9: [0.2]}) for epsilon in (0.01, 0.5))
    figures = backdoor_mean_rates(
        pd.concat([large, small]),
        methods=[methods.get("privatree")],
        found=[DATASET],
        depth=4,
        n_training=800,
    )
    at = figures[(figures["figure"] == "A") & (figures["poisoned"] == 9)]
    assert at["epsilon"].tolist() == [0.01, 0.5]
    assert at["value"].tolist() == pytest.approx([1 - 0.9 * math.exp(-9 * e) for e in (0.01, 0.5)])


@pytest.mark.parametrize(
    ("method", "epsilon", "rates"),
    [
        ("decision-tree", math.nan, {0: [0.0], 5: [0.5]}),
        ("random-tree", EPSILON, {0: [0.0], 5: [0.5]}),
        ("privatree", EPSILON, {5: [0.5]}),  # the rate without poison is not known
        ("privatree", EPSILON, {0: [None], 5: [0.5]}),
    ],
)
def test_without_a_ground_there_is_no_bound(
    method: str, epsilon: float, rates: dict[int, list[float | None]]
) -> None:
    figures = figures_of(cells(method, epsilon, rates))
    assert set(figures["figure"]) == {ACCURACY, SUCCESS}


def test_what_failed_is_noted() -> None:
    figures = figures_of(cells("privatree", EPSILON, {0: [0.1, 0.1], 5: [None, 0.5]}))
    row = figures[(figures["poisoned"] == 5) & (figures["figure"] == SUCCESS)].iloc[0]
    assert (row["value"], row["n"], row["note"]) == (0.5, 1, "1 of 2 scores: failed")


def test_each_dataset_has_the_bounds_of_its_schema() -> None:
    narrow = Schema({"a": Numeric(0, 0, integer=True), "b": Categorical(["x"])}, ["0", "1"])
    other = Available("other", narrow, "", "", 1000, 0.5)
    part = cells("privatree", EPSILON, {0: [0.1], 9: [0.2]})
    ours = methods.get("privatree")
    figures = backdoor_mean_rates(
        pd.concat([part, part.assign(dataset="other", asr=0.0)]),
        methods=[methods.get("decision-tree"), ours],
        found=[other, DATASET],
        depth=4,
        n_training=800,
    )
    assert list(dict.fromkeys(figures["dataset"])) == ["other", "mnist01"]
    for dataset, clean in ((other, 0.0), (DATASET, 0.1)):
        spending = guarantee_spending(ours, dataset.schema, EPSILON, 4)
        found = values(figures[figures["dataset"] == dataset.name], 9)
        for letter, value in bounds(spending, 1 - clean, 9).items():
            assert found[letter] == pytest.approx(1 - value, abs=1e-12)


# --- the figure ---------------------------------------------------------------------------------

CHOSEN = [methods.get(name) for name in ("decision-tree", "privatree-paper", "privatree")]


def figures() -> pd.DataFrame:
    rows = []
    for dataset, method, epsilon, limits in [
        ("mnist01", "decision-tree", math.nan, {}),
        ("mnist01", "privatree-paper", 0.1, {"A": 0.7}),
        ("mnist01", "privatree", 0.1, {"A": 0.6, "D": 0.4}),
        ("mnist01", "privatree", 0.01, {"A": 0.3, "D": 0.5}),
        ("full", "privatree", 0.1, {"A": 0.8}),
    ]:
        for poisoned in (0, 9):
            setting = (dataset, method, epsilon, poisoned, poisoned / 900)
            rate = poisoned / 10 if method == "decision-tree" else 0.05
            rows.append((*setting, "accuracy", 0.99, 0.001, 5, ""))
            rows.append((*setting, "asr", rate, 0.01, 5, ""))
            rows += [(*setting, name, limit, math.nan, 5, "") for name, limit in limits.items()]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def lines(axes: Any) -> list[tuple[list[float], list[float]]]:
    return [(list(line.get_xdata()), list(line.get_ydata())) for line in axes.get_lines()]


def test_an_image_and_a_panel_for_each_epsilon_and_schema() -> None:
    image = np.arange(784).reshape(28, 28)
    drawn = backdoor_figure(
        figures(),
        image,
        methods=CHOSEN,
        epsilons=(0.1, 0.01),
        schemas={"mnist01": "narrow", "full": "wide"},
    )
    picture, large, small, wide_large, wide_small = drawn.axes
    (shown,) = picture.get_images()
    assert (shown.get_array() == image).all()
    assert [axes.get_title() for axes in drawn.axes[1:]] == [
        *("narrow, ε = 0.1", "narrow, ε = 0.01", "wide, ε = 0.1", "wide, ε = 0.01"),
    ]
    tree = ([0, 9], [0.0, 0.9])
    rate = ([0, 9], [0.05, 0.05])
    assert lines(large) == [tree, rate, ([0, 9], [0.7, 0.7]), rate, ([0, 9], [0.4, 0.4])]
    assert lines(small) == [tree, rate, ([0, 9], [0.3, 0.3])]
    assert lines(wide_large) == [tree, rate, ([0, 9], [0.8, 0.8])]
    assert lines(wide_small) == [tree]  # it reads no schema: once measured, everywhere shown
    dashed = [line.is_dashed() for line in large.get_lines()]
    assert dashed == [False, False, True, False, True]
    (legend,) = drawn.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "decision tree",
        "PrivaTree†",
        "PrivaTree†: claimed bound",
        "privatree (record-level)",
        "privatree (record-level): best bound",
    ]


@pytest.mark.parametrize("kept", [0, 1])
def test_what_has_no_score_is_not_drawn(kept: int) -> None:
    few = figures()
    few.loc[few["poisoned"] >= kept, "n"] = 0
    image = np.zeros((28, 28))
    drawn = backdoor_figure(
        few, image, methods=CHOSEN, epsilons=(0.1,), schemas={"mnist01": "narrow"}
    )
    assert len(drawn.axes) == 2
    assert [x for x, _ in lines(drawn.axes[1])] == [[0]] * (5 * kept)
