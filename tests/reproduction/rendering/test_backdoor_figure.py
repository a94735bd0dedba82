"""The figure shows the image, the measured rates and the lowest bound of every method."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from privatree.baselines import methods
from privatree.reproduction.rendering._attack_success import COLUMNS
from privatree.reproduction.rendering._backdoor_figure import backdoor_figure

CHOSEN = [methods.get(name) for name in ("decision-tree", "privatree-paper", "privatree")]


def figures() -> pd.DataFrame:
    rows = []
    for dataset, method, epsilon, bounds in [
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
            rows += [(*setting, name, limit, math.nan, 5, "") for name, limit in bounds.items()]
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
