"""Means and standard errors, marked scores, and the comparison with what was published."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privatree.errors import ParameterError
from privatree.reproduction.rendering._summaries import (
    summarise_scores,
    summary_at_epsilon,
    summary_disagreements,
    with_published_accuracy,
    with_published_runtime,
)

COLUMNS = [
    *("dataset", "method", "epsilon", "depth", "repeat", "fold"),
    *("accuracy", "fit_seconds", "note"),
]


def scores(values, *, dataset="adult", method="bdpt", epsilon=0.1, depth=4, notes=None):
    notes = notes or [""] * len(values)
    rows = [
        (dataset, method, epsilon, depth, place // 5, place % 5, value, 2 * value, note)
        for place, (value, note) in enumerate(zip(values, notes, strict=True))
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def only(frame):
    (row,) = frame.itertuples(index=False)
    return row


def test_mean_and_standard_error():
    row = only(summarise_scores(scores([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])))
    assert (row.dataset, row.method, row.epsilon) == ("adult", "bdpt", 0.1)
    assert row.mean == pytest.approx(0.35)
    assert row.standard_error == pytest.approx(math.sqrt(0.035 / 6))  # the variance is 0.035
    assert (row.n, row.n_repeats, row.note) == (6, 2, "")


def test_another_value():
    assert only(summarise_scores(scores([0.1, 0.2]), value="fit_seconds")).mean == pytest.approx(
        0.3
    )


def test_one_score_has_no_standard_error():
    row = only(summarise_scores(scores([0.7])))
    assert row.mean == 0.7
    assert math.isnan(row.standard_error)


def test_settings_are_told_apart_and_sorted():
    cells = pd.concat(
        [
            scores([0.5], method="decision-tree", epsilon=np.nan),
            scores([0.4], epsilon=1.0),
            scores([0.3], epsilon=0.1),
            scores([0.2], dataset="a"),
        ]
    )
    assert summarise_scores(cells)["mean"].tolist() == [0.2, 0.3, 0.4, 0.5]


def test_scores_without_epsilon_are_one_setting():
    row = only(summarise_scores(scores([0.5, 0.7], method="decision-tree", epsilon=np.nan)))
    assert row.n == 2
    assert math.isnan(row.epsilon)


def test_without_folds():
    cells = scores([0.5, 0.7]).drop(columns="fold").assign(repeat=[0, 1])
    assert only(summarise_scores(cells)).n_repeats == 2


def test_a_marked_setting_has_no_mean():
    row = only(summarise_scores(scores([np.nan] * 2, notes=["timeout: more than 9 s"] * 2)))
    assert math.isnan(row.mean)
    assert (row.n, row.n_repeats, row.note) == (0, 0, "timeout: more than 9 s")


def test_marked_scores_do_not_count():
    notes = ["", "failed: b", "timeout: a", "timeout: a"]
    row = only(summarise_scores(scores([0.5, 0.9, np.nan, np.nan], notes=notes)))
    assert (row.mean, row.n) == (0.5, 1)
    assert row.note == "1 of 4 scores: failed: b; 2 of 4 scores: timeout: a"


def test_missing_notes_are_no_notes():
    assert only(summarise_scores(scores([0.5, 0.7]).assign(note=np.nan))).n == 2


def test_a_score_must_not_occur_twice():
    cells = scores([0.5, 0.7])
    with pytest.raises(ParameterError, match="must occur once"):
        summarise_scores(pd.concat([cells, cells.head(1)]))


def test_depths_must_not_be_mixed():
    with pytest.raises(ParameterError, match="the same depth"):
        summarise_scores(pd.concat([scores([0.5]), scores([0.7], depth=3)]))


@given(st.lists(st.floats(0, 1), min_size=2, max_size=12), st.randoms(use_true_random=False))
def test_the_order_of_rows_is_of_no_account(values, random):
    cells = pd.concat([scores(values), scores(values[::-1], method="dpgdf")])
    places = list(range(len(cells)))
    random.shuffle(places)
    pd.testing.assert_frame_equal(
        summarise_scores(cells), summarise_scores(cells.iloc[places]), check_exact=True
    )


def test_at_an_epsilon_are_its_rows_and_those_without_privacy():
    parts = [scores([0.5], method=f"m{e}", epsilon=e) for e in (0.1, 0.1000001, 1.0, np.nan)]
    shown = summary_at_epsilon(summarise_scores(pd.concat(parts)), 0.1)
    assert shown["method"].tolist() == ["m0.1", "mnan"]
    assert shown["epsilon"].tolist() == [0.1, 0.1]


def test_comparison_with_the_published_accuracy():
    cells = pd.concat(
        [
            scores([0.76, 0.78]),
            scores([0.9], method="privatree"),
            scores([0.85], method="decision-tree", epsilon=np.nan),
        ]
    )
    compared = with_published_accuracy(summarise_scores(cells)).set_index("method")
    assert compared.loc["bdpt", "published"] == 0.752
    assert compared.loc["bdpt", "published_standard_error"] == 0.0
    assert compared.loc["bdpt", "difference"] == pytest.approx(0.018)
    assert compared.loc["decision-tree", "difference"] == pytest.approx(0.01)
    assert compared.loc["privatree", ["published", "difference"]].isna().all()


def test_comparison_with_the_published_runtime():
    cells = pd.concat(
        [
            scores([0.25], dataset="MiniBooNE"),  # 213 s
            scores([0.25], dataset="Higgs"),  # more than 7200 s
            scores([0.25], method="privatree"),
        ]
    )
    compared = with_published_runtime(summarise_scores(cells, value="fit_seconds"))
    shown = compared.set_index("dataset")
    assert shown.loc["MiniBooNE", ["published", "published_bound", "ratio"]].tolist() == [
        213,
        "",
        426,
    ]
    assert shown.loc["Higgs", ["published", "published_bound", "ratio"]].tolist() == [
        7200,
        ">",
        14400,
    ]
    assert math.isnan(shown.loc["adult", "ratio"])


def test_the_paper_has_runtimes_at_one_epsilon():
    at = {epsilon: scores([0.25], epsilon=epsilon) for epsilon in (0.1, 0.01, 1.0, np.nan)}
    compared = with_published_runtime(summarise_scores(pd.concat(at.values()), value="fit_seconds"))
    assert compared.loc[compared["published"].notna(), "epsilon"].tolist() == [0.1]
    assert compared["ratio"].notna().sum() == 1


@pytest.mark.parametrize(
    ("difference", "disagrees"),
    [(0.0299, False), (0.0301, True), (-0.0299, False), (-0.0301, True)],
)
def test_disagreement_beyond_twice_the_joint_error_and_a_margin(difference, disagrees):
    compared = pd.DataFrame(
        {
            "difference": [difference],
            "standard_error": [0.003],
            "published_standard_error": [0.004],
        }
    )
    found = summary_disagreements(compared)  # 2 * 0.005 + 0.02
    assert len(found) == disagrees
    if disagrees:
        assert only(found).tolerance == pytest.approx(0.03)


def test_unknown_errors_and_differences():
    compared = pd.DataFrame(
        {
            "difference": [0.021, np.nan],
            "standard_error": [np.nan, 0.0],
            "published_standard_error": [0.0, np.nan],
        }
    )
    assert only(summary_disagreements(compared)).difference == 0.021
