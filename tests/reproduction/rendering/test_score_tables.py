"""The paper's tables from scores: means, bold figures, marked cells, and what is not there.

The exact text is kept in ``tests/golden/reproduction``.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from privatree.baselines import methods
from privatree.reproduction import datasets
from privatree.reproduction.rendering._score_tables import accuracy_tables, runtime_tables
from privatree.reproduction.rendering._summaries import (
    summarise_scores,
    summary_at_epsilon,
    with_published_accuracy,
    with_published_runtime,
)
from privatree.reproduction.rendering._table import markdown_table

IDS = ("decision-tree", "bdpt", "privatree-star", "dpgdf", "privatree-paper", "privatree")
PRIVATE = ("dpgdf", "privatree-paper", "privatree")  # one group here, to have three to compare
METHODS = [
    replace(
        methods.get(i), group="private" if i in PRIVATE else methods.get(i).group, claimed=False
    )
    for i in IDS
]
DATASETS = [datasets.describe(name) for name in ("eye_movements", "pol", "adult", "vote")]
MEANS = {
    "eye_movements": (0.58, 0.5, 0.54, None, 0.52, 0.52),
    "pol": (0.93, 0.51, 0.87, None, 0.84, 0.9),
    "adult": (0.84, 0.75, 0.75, 0.76, 0.72, 0.842),
    "vote": (0.94, None, 0.78, 0.55, 0.74, 0.8),
}


def scores():
    """Two folds for each setting, .01 to both sides of a mean that is easy to check by hand."""
    rows = [
        (name, id_, np.nan if id_ == "decision-tree" else 0.1, 4, 0, fold, mean + side, 0.3, "")
        for name, means in MEANS.items()
        for id_, mean in zip(IDS, means, strict=True)
        if mean is not None
        for fold, side in enumerate((-0.01, 0.01))
    ]
    rows += [("vote", "bdpt", 0.1, 4, 0, fold, np.nan, np.nan, "timeout: 9 s") for fold in range(2)]
    rows += [("vote", "dpgdf", 0.1, 4, 1, 0, np.nan, np.nan, "failed: ValueError: a_b")]
    rows += [("adult", "privatree", 1.0, 4, 0, 0, 0.1, 0.1, "")]  # another epsilon
    columns = ["dataset", "method", "epsilon", "depth", "repeat", "fold"]
    return pd.DataFrame(rows, columns=[*columns, "accuracy", "fit_seconds", "note"])


def tables(cells=None, *, epsilon=0.1, **changes):
    summary = summarise_scores(scores() if cells is None else cells)
    compared = with_published_accuracy(summary_at_epsilon(summary, epsilon))
    given = {"methods": METHODS, "datasets": DATASETS} | changes
    return accuracy_tables(compared, epsilon=epsilon, **given)


def runtimes(cells=None, *, epsilon=0.1, **changes):
    summary = summarise_scores(scores() if cells is None else cells, value="fit_seconds")
    compared = with_published_runtime(summary_at_epsilon(summary, epsilon))
    given = {"methods": METHODS, "datasets": DATASETS} | changes
    return runtime_tables(compared, epsilon=epsilon, **given)


def texts(row):
    return [cell.text for cell in row.cells]


def published(row):
    return [cell.published for cell in row.cells]


def test_the_order_of_scores_is_of_no_account():
    shuffled = scores().sample(frac=1, random_state=1)
    assert not shuffled.index.equals(scores().index)
    assert tables(shuffled) == tables()


def test_the_best_of_a_group_is_bold_if_there_are_two_to_compare():
    numerical, uci, over_all = tables()[0].sections
    bold = {row.titles[0]: [cell.bold for cell in row.cells] for row in numerical.rows + uci.rows}
    assert bold == {
        "eye_movements": [False, False, True, False, True, True],  # a tie
        "pol": [False, False, True, False, False, True],
        "adult": [False, True, True, False, False, True],  # a tie; DPGDF is second
        "vote": [False, False, False, False, False, True],  # a timeout has no rival
    }
    assert [cell.bold for cell in over_all.summary[0].cells] == [False] * 5 + [True]


def without_bdpt_and_failures():
    cells = scores()
    return cells[(cells["method"] != "bdpt") & (cells["note"] == "")]


def test_means_over_all_suites():
    last = tables(without_bdpt_and_failures())[0].sections[-1]
    assert last.title == "All suites"
    whole, row = last.summary
    assert whole.titles == ("mean of 4",)  # DPGDF has not all of them
    assert texts(whole) == [".823", "", ".735", "", ".705", ".766"]
    assert published(whole) == [".821", "", ".747", "", ".727", ""]
    assert row.titles == ("mean of 2",)  # adult and vote: DPGDF has no others
    assert texts(row) == [".890", "", ".765", ".655", ".730", ".821"]
    assert published(row) == [".892", "", ".793", ".657", ".778", ""]


def test_a_cell_that_lacks_scores_is_no_figure_for_a_mean():
    complete = without_bdpt_and_failures()
    assert [row.titles for row in tables(complete)[0].sections[1].summary] == [("mean of 2",)]
    complete.loc[(complete["dataset"] == "vote") & (complete["fold"] == 1), "note"] = "failed: a"
    main = tables(complete)[0]
    assert main.sections[1].rows[1].cells[-1].text == ".790"  # shown, with its note
    assert main.sections[1].summary == []  # adult alone is no mean
    (numerical,) = main.sections[0].summary
    assert numerical.titles == ("mean of 2",)


def test_means_without_the_method_that_has_few_datasets():
    shown = [method for method in METHODS if method.id not in ("bdpt", "dpgdf")]
    (row,) = tables(methods=shown)[0].sections[-1].summary
    assert row.titles == ("mean of 4",)
    assert row.cells[-1].text == ".766"  # (.52 + .9 + .842 + .8) / 4 = .7655


def test_one_suite_has_one_row_of_means():
    sections = tables(datasets=DATASETS[:2])[0].sections
    assert [(section.title, len(section.summary)) for section in sections] == [
        ("Numerical data", 1)
    ]


def test_another_epsilon():
    main, differences, _ = tables(epsilon=1.0)
    assert main.title == "Test accuracy at ε = 1"
    adult = main.sections[1].rows[0]
    assert texts(adult) == [".840", "-", "-", "-", "-", ".100"]
    assert published(adult) == [".840", ".809", ".822", ".752", ".823", ""]
    assert adult.cells[-1].error == ""  # a single score
    assert [column.title for column in differences.columns] == ["decision tree"]


def test_an_epsilon_that_the_paper_does_not_have():
    main, _, disagreements = tables(epsilon=0.5)
    pol = main.sections[0].rows[1]
    assert published(pol) == [".930", "", "", "", "", ""]
    assert markdown_table(disagreements).endswith("\n\nNone.\n")


def test_nothing_was_run():
    main, differences, disagreements = tables(scores().head(0))
    assert published(main.sections[1].rows[0])[1] == ".752"
    assert markdown_table(differences).endswith("\n\nNone.\n")
    assert markdown_table(disagreements).endswith("\n\nNone.\n")


CLAIM = "†: its authors' claim; for whole records no finite epsilon holds or is proved."


def claimed(*ids):
    return [replace(method, claimed=method.id in ids) for method in METHODS]


def test_a_claim_is_explained_below_every_table_that_shows_it():
    main, differences, disagreements = tables(methods=claimed("dpgdf", "bdpt"))
    for table in (main, differences, *runtimes(methods=claimed("dpgdf", "bdpt"))):
        assert "BDPT†" in [column.title for column in table.columns]
        assert table.notes[-1] == CLAIM
    assert CLAIM not in disagreements.notes  # its two methods are others
    *_, disagreements = tables(methods=claimed("privatree-star"))
    assert [row.titles[1] for row in disagreements.rows] == ["PrivaTree*†", "PrivaTree"]
    assert disagreements.notes[-1] == CLAIM


def test_a_claim_that_is_not_shown_is_not_mentioned():
    for table in (*tables(), *runtimes()):
        assert "†" not in markdown_table(table)


@pytest.mark.parametrize(
    ("note", "shown"),
    [
        ("timeout after 600 s", "timeout"),
        ("timeout: more than 600 s", "timeout"),
        ("failed: MemoryError", "failed"),
        ("out of luck", "none"),
    ],
)
def test_what_stands_in_place_of_a_figure(note, shown):
    cells = scores()
    cells.loc[cells["note"].str.startswith("timeout"), "note"] = note
    for main, *_ in (tables(cells), runtimes(cells)):
        cell = main.sections[1].rows[1].cells[1]
        assert (cell.text, cell.footnote, cell.bold) == (shown, note, False)


def test_runtimes_at_another_epsilon_are_not_compared_with_the_papers():
    main, ratios = runtimes(scores().replace({"epsilon": {0.1: 0.01}}), epsilon=0.01)
    assert main.sections[0].rows[1].cells[1].text == "0.30"
    assert {text for row in main.rows for text in published(row)} == {""}
    assert "that the paper published" not in markdown_table(main)
    assert markdown_table(ratios).endswith("\n\nNone.\n")
