"""The paper's tables from scores: exact text, marked cells, means, bold figures."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from privatree.reproduction.rendering._summaries import summarise, with_published
from privatree.reproduction.rendering._table_formats import csv_text, latex, markdown
from privatree.reproduction.rendering._tables import TIDY, accuracy_tables, runtime_tables


class AMethod(NamedTuple):
    id: str
    title: str
    group: str
    claimed: bool = False


class ADataset(NamedTuple):
    name: str
    title: str
    suite: str


METHODS = [
    AMethod("decision-tree", "decision tree", "no privacy"),
    AMethod("bdpt", "BDPT", "leaking"),
    AMethod("privatree-star", "PrivaTree*", "leaking"),
    AMethod("dpgdf", "DPGDF", "private"),
    AMethod("privatree-paper", "PrivaTree", "private"),
    AMethod("privatree", "ours", "private"),
]
DATASETS = [
    ADataset("Higgs", "Higgs", "Numerical"),
    ADataset("eye_movements", "eye_movements", "Numerical"),
    ADataset("pol", "pol", "Numerical"),
    ADataset("adult", "adult", "UCI"),
    ADataset("vote", "vote", "UCI"),
]


NOT_APPLICABLE = [(name, "dpgdf") for name in ("Higgs", "eye_movements", "pol")]


def scores():
    """Two folds for each setting, .01 to both sides of a mean that is easy to check by hand."""
    means = {
        ("eye_movements", "decision-tree"): 0.58,
        ("eye_movements", "bdpt"): 0.5,
        ("eye_movements", "privatree-star"): 0.54,
        ("eye_movements", "privatree-paper"): 0.52,
        ("eye_movements", "privatree"): 0.52,
        ("pol", "decision-tree"): 0.93,
        ("pol", "bdpt"): 0.51,
        ("pol", "privatree-star"): 0.87,
        ("pol", "privatree-paper"): 0.84,
        ("pol", "privatree"): 0.9,
        ("adult", "decision-tree"): 0.84,
        ("adult", "bdpt"): 0.75,
        ("adult", "privatree-star"): 0.75,
        ("adult", "dpgdf"): 0.76,
        ("adult", "privatree-paper"): 0.72,
        ("adult", "privatree"): 0.842,
        ("vote", "decision-tree"): 0.94,
        ("vote", "privatree-star"): 0.78,
        ("vote", "dpgdf"): 0.55,
        ("vote", "privatree-paper"): 0.74,
        ("vote", "privatree"): 0.8,
    }
    rows = [
        (
            *(dataset, method, np.nan if method == "decision-tree" else 0.1, 4, 0, fold),
            *(mean + (2 * fold - 1) * 0.01, 0.3, ""),
        )
        for (dataset, method), mean in means.items()
        for fold in range(2)
    ]
    rows += [("vote", "bdpt", 0.1, 4, 0, fold, np.nan, np.nan, "timeout: 9 s") for fold in range(2)]
    rows += [("vote", "dpgdf", 0.1, 4, 1, 0, np.nan, np.nan, "failed: ValueError: a_b")]
    rows += [("adult", "privatree", 1.0, 4, 0, 0, 0.1, 0.1, "")]  # another epsilon
    rows += [("iris", "privatree", 0.1, 4, 0, 0, 0.1, 0.1, "")]  # not in the table
    columns = ["dataset", "method", "epsilon", "depth", "repeat", "fold"]
    return pd.DataFrame(rows, columns=[*columns, "accuracy", "fit_seconds", "note"])


def tables(cells=None, **changes):
    summary = summarise(scores() if cells is None else cells)
    given = {
        "epsilon": 0.1,
        "methods": METHODS,
        "datasets": DATASETS,
        "missing": {"Higgs": "not in the data folder"},
        "not_applicable": NOT_APPLICABLE,
        "notes": ["Trees of depth 4."],
    }
    return accuracy_tables(summary, **(given | changes))


ACCURACY = r"""# Test accuracy at ε = 0.1

| dataset        |     decision tree |                  BDPT |           PrivaTree\* |                 DPGDF |             PrivaTree |           ours |
| -------------- | ----------------: | --------------------: | --------------------: | --------------------: | --------------------: | -------------: |
| **Numerical**  |                   |                       |                       |                       |                       |                |
| Higgs [1]      |            (.657) |             (timeout) |                (.658) |                     - |                (.659) |                |
| eye_movements  | .580 ±.010 (.571) |     .500 ±.010 (.500) | **.540** ±.010 (.532) |                     - | **.520** ±.010 (.514) | **.520** ±.010 |
| pol            | .930 ±.010 (.930) |     .510 ±.010 (.509) | **.870** ±.010 (.871) |                     - |     .840 ±.010 (.836) | **.900** ±.010 |
| mean of 2      |       .755 (.750) |           .505 (.504) |       **.705** (.702) |                       |           .680 (.675) |       **.710** |
| **UCI**        |                   |                       |                       |                       |                       |                |
| adult          | .840 ±.010 (.840) | **.750** ±.010 (.752) | **.750** ±.010 (.815) |     .760 ±.010 (.753) |     .720 ±.010 (.820) | **.842** ±.010 |
| vote           | .940 ±.010 (.944) |    timeout (.608) [2] |     .780 ±.010 (.771) | .550 ±.010 (.561) [3] |     .740 ±.010 (.737) | **.800** ±.010 |
| mean of 2      |       .890 (.892) |                       |           .765 (.793) |                       |           .730 (.778) |       **.821** |
| **All suites** |                   |                       |                       |                       |                       |                |
| mean of 4      |       .823 (.821) |                       |           .735 (.747) |                       |           .705 (.727) |       **.766** |

- Columns: decision tree (no privacy); BDPT, PrivaTree\* (leaking); DPGDF, PrivaTree, ours (private).
- Trees of depth 4.
- Means over 2 scores a cell; after ±: the standard deviation of a cell's scores (with n - 1) over the square root of their number. The folds of a repeat share training records, so it is a guide and no exact standard error.
- Bold: the best of its group.
- Mean of k: over all k datasets above it, of the methods that have a figure for each of them; and over the k for which every method has one. No score may be missing. The last ones are over all suites.
- Dash: the method does not apply to the dataset. Empty: not run.
- In parentheses: the figure that the paper published.
- [1] not in the data folder
- [2] timeout: 9 s
- [3] 1 of 3 scores: failed: ValueError: a_b
"""  # noqa: E501

DIFFERENCES = r"""# Measured minus published accuracy at ε = 0.1

| dataset                  | decision tree |  BDPT | PrivaTree\* | DPGDF | PrivaTree |
| ------------------------ | ------------: | ----: | ----------: | ----: | --------: |
| **Numerical**            |               |       |             |       |           |
| eye_movements            |         +.009 |  .000 |       +.008 |       |     +.006 |
| pol                      |          .000 | +.001 |       -.001 |       |     +.004 |
| **UCI**                  |               |       |             |       |           |
| adult                    |          .000 | -.002 |   **-.065** | +.007 | **-.100** |
| vote                     |         -.004 |       |       +.009 | -.011 |     +.003 |
| **All suites**           |               |       |             |       |           |
| mean                     |         +.001 |  .000 |       -.012 | -.002 |     -.022 |
| mean absolute difference |          .003 |  .001 |        .021 |  .009 |      .028 |

- Bold: beyond twice the joint standard error of both figures plus 0.02.
"""

DISAGREEMENTS = r"""# Where measured and published accuracy disagree at ε = 0.1

| dataset | method      |   measured |  published | difference | tolerance |
| ------- | ----------- | ---------: | ---------: | ---------: | --------: |
| adult   | PrivaTree\* | .750 ±.010 | .815 ±.001 |      -.065 |      .040 |
| adult   | PrivaTree   | .720 ±.010 | .820 ±.003 |      -.100 |      .041 |

- Tolerance: twice the joint standard error of both figures plus 0.02.
"""


def test_accuracy_in_markdown():
    assert [markdown(table) for table in tables()] == [ACCURACY, DIFFERENCES, DISAGREEMENTS]


def test_accuracy_in_latex():
    lines = latex(tables()[0], label="accuracy").splitlines()
    assert (
        r"Higgs$^{1}$ & \tiny (.657) & \tiny (timeout) & \tiny (.658) & - & \tiny (.659) & \\"
        in (lines)
    )
    assert (
        r"vote & .940 \tiny $\pm$ .010 (.944) & timeout$^{2}$ \tiny (.608) & "
        r".780 \tiny $\pm$ .010 (.771) & .550$^{3}$ \tiny $\pm$ .010 (.561) & "
        r".740 \tiny $\pm$ .010 (.737) & \textbf{.800} \tiny $\pm$ .010 \\"
    ) in lines
    assert r"$^{3}$ 1 of 3 scores: failed: ValueError: a\_b" in lines


def test_the_order_of_scores_is_of_no_account():
    shuffled = scores().sample(frac=1, random_state=1)
    assert not shuffled.index.equals(scores().index)
    assert tables(shuffled) == tables()
    tidy = [with_published(summarise(cells))[list(TIDY)] for cells in (scores(), shuffled)]
    assert csv_text(tidy[0]) == csv_text(tidy[1])


def test_tidy_csv():
    compared = with_published(summarise(scores()))[list(TIDY)]
    lines = csv_text(compared).splitlines()
    assert lines[0] == (
        "dataset,method,epsilon,mean,standard_error,n,"
        "published,published_standard_error,difference,note"
    )
    assert "adult,decision-tree,,0.84,0.01,2,0.84,0.001,0," in lines
    assert "adult,privatree,0.1,0.842,0.01,2,,,," in lines
    assert "vote,bdpt,0.1,,,0,0.608,0.062,,timeout: 9 s" in lines


def without_bdpt_and_failures():
    cells = scores()
    return cells[(cells["method"] != "bdpt") & (cells["note"] == "")]


def test_means_over_all_suites():
    last = tables(without_bdpt_and_failures())[0].sections[-1]
    assert last.title == "All suites"
    whole, row = last.summary
    assert whole.titles == ("mean of 4",)  # DPGDF has not all of them
    assert [cell.text for cell in whole.cells] == [".823", "", ".735", "", ".705", ".766"]
    assert [cell.published for cell in whole.cells] == [".821", "", ".747", "", ".727", ""]
    assert row.titles == ("mean of 2",)  # adult and vote: DPGDF has no others
    assert [cell.text for cell in row.cells] == [".890", "", ".765", ".655", ".730", ".821"]
    assert [cell.published for cell in row.cells] == [".892", "", ".793", ".657", ".778", ""]


def test_a_cell_that_lacks_scores_is_no_figure_for_a_mean():
    complete = without_bdpt_and_failures()
    assert [row.titles for row in tables(complete)[0].sections[1].summary] == [("mean of 2",)]
    complete.loc[(complete["dataset"] == "vote") & (complete["fold"] == 1), "note"] = "failed: a"
    main = tables(complete)[0]
    assert main.sections[1].rows[1].cells[-1].text == ".790"  # shown, with its note
    assert main.sections[1].summary == ()  # adult alone is no mean
    (numerical,) = main.sections[0].summary
    assert numerical.titles == ("mean of 2",)


def test_means_without_the_method_that_has_few_datasets():
    methods = [method for method in METHODS if method.id not in ("bdpt", "dpgdf")]
    (row,) = tables(methods=methods)[0].sections[-1].summary
    assert row.titles == ("mean of 4",)
    assert row.cells[-1].text == ".766"  # (.52 + .9 + .842 + .8) / 4 = .7655


def test_one_suite_has_one_row_of_means():
    sections = tables(datasets=DATASETS[:3])[0].sections
    assert [(section.title, len(section.summary)) for section in sections] == [("Numerical", 1)]


def test_another_epsilon():
    main, differences, _ = tables(epsilon=1.0)
    assert main.title == "Test accuracy at ε = 1"
    cells = main.sections[1].rows[0].cells  # adult
    assert [cell.text for cell in cells] == [".840", "", "", "", "", ".100"]
    assert [cell.published for cell in cells] == [".840", ".809", ".822", ".752", ".823", ""]
    assert cells[-1].error == ""  # a single score
    assert [column.title for column in differences.columns] == ["decision tree"]


def test_an_epsilon_that_the_paper_does_not_have():
    main, _, disagreements = tables(epsilon=0.5)
    pol = main.sections[0].rows[2].cells
    assert [cell.text for cell in pol] == [".930", "", "", "-", "", ""]
    assert [cell.published for cell in pol] == [".930", "", "", "", "", ""]
    assert markdown(disagreements).endswith("\n\nNone.\n")


def test_nothing_was_run():
    main, differences, disagreements = tables(scores().head(0))
    assert main.sections[1].rows[0].cells[1].published == ".752"
    assert markdown(differences).endswith("\n\nNone.\n")
    assert markdown(disagreements).endswith("\n\nNone.\n")


def test_a_dash_is_for_what_does_not_apply_and_not_for_what_the_paper_left_out():
    main = tables(not_applicable={("vote", "bdpt"), ("Higgs", "privatree")})[0]
    higgs, eye_movements, _ = main.sections[0].rows
    assert [cell.text for cell in higgs.cells] == ["", "", "", "", "", "-"]
    assert eye_movements.cells[3].text == ""  # DPGDF: the paper has a dash; it was not run here
    assert main.sections[1].rows[1].cells[1].text == "timeout"  # what was run is shown


CLAIMED = [method._replace(claimed=method.id in ("dpgdf", "bdpt")) for method in METHODS]
CLAIM = "†: its authors' claim; for whole records no finite epsilon holds or is proved."


def titles(table):
    return [column.title for column in table.columns]


def test_an_epsilon_that_is_claimed_only_is_marked():
    main, differences, disagreements = tables(methods=CLAIMED)
    marked = ["decision tree", "BDPT†", "PrivaTree*", "DPGDF†", "PrivaTree", "ours"]
    assert titles(main) == marked
    assert titles(differences) == marked[:-1]
    assert main.notes[-1] == differences.notes[-1] == CLAIM
    assert CLAIM not in disagreements.notes  # its two methods are others
    assert f"- {CLAIM}" in markdown(main).splitlines()
    lines = latex(main, label="a").splitlines()
    assert any(r"& \textbf{BDPT$^\dagger$} &" in line for line in lines)
    assert any(line.startswith(r"$^\dagger$: its authors' claim") for line in lines)


def test_a_disagreement_of_a_method_with_a_claim_is_marked():
    methods = [method._replace(claimed=method.id == "privatree-star") for method in METHODS]
    disagreements = tables(methods=methods)[2]
    assert [row.titles[1] for row in disagreements.rows] == ["PrivaTree*†", "PrivaTree"]
    assert disagreements.notes[-1] == CLAIM


def test_a_claim_that_is_not_shown_is_not_mentioned():
    shown = [method for method in CLAIMED if not method.claimed]
    for table in (*tables(methods=shown), *runtimes(methods=shown)):
        assert "†" not in markdown(table)


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
    cell = tables(cells)[0].sections[1].rows[1].cells[1]
    assert (cell.text, cell.footnote, cell.bold) == (shown, note, False)


RUNTIME = r"""# Mean seconds to train at ε = 0.1

| dataset       | decision tree |             BDPT | PrivaTree\* |         DPGDF | PrivaTree | ours |
| ------------- | ------------: | ---------------: | ----------: | ------------: | --------: | ---: |
| **Numerical** |               |                  |             |               |           |      |
| Higgs [1]     |           (9) |          (>7200) |         (2) |             - |     (108) |      |
| eye_movements |     0.30 (<1) |        0.30 (<1) |   0.30 (<1) |             - |  0.30 (1) | 0.30 |
| pol           |     0.30 (<1) |        0.30 (<1) |   0.30 (<1) |             - |  0.30 (1) | 0.30 |
| **UCI**       |               |                  |             |               |           |      |
| adult         |     0.30 (<1) |         0.30 (1) |   0.30 (<1) |     0.30 (<1) |  0.30 (1) | 0.30 |
| vote          |     0.30 (<1) | timeout (<1) [2] |   0.30 (<1) | 0.30 (<1) [3] | 0.30 (<1) | 0.30 |

- Columns: decision tree (no privacy); BDPT, PrivaTree\* (leaking); DPGDF, PrivaTree, ours (private).
- Dash: the method does not apply to the dataset. Empty: not run.
- In parentheses: the figure that the paper published.
- [1] not in the data folder
- [2] timeout: 9 s
- [3] 1 of 3 scores: failed: ValueError: a_b
"""  # noqa: E501

RATIOS = r"""# Published over measured seconds at ε = 0.1

| dataset       | decision tree |  BDPT | PrivaTree\* | DPGDF | PrivaTree |
| ------------- | ------------: | ----: | ----------: | ----: | --------: |
| **Numerical** |               |       |             |       |           |
| eye_movements |         <3.3× | <3.3× |       <3.3× |       |      3.3× |
| pol           |         <3.3× | <3.3× |       <3.3× |       |      3.3× |
| **UCI**       |               |       |             |       |           |
| adult         |         <3.3× |  3.3× |       <3.3× | <3.3× |      3.3× |
| vote          |         <3.3× |       |       <3.3× | <3.3× |     <3.3× |

- The paper ran on another machine and rounds to seconds; < and > are its bounds.
"""


def runtimes(cells=None, **changes):
    summary = summarise(scores() if cells is None else cells, value="fit_seconds")
    given = {
        "epsilon": 0.1,
        "methods": METHODS,
        "datasets": DATASETS,
        "missing": {"Higgs": "not in the data folder"},
        "not_applicable": NOT_APPLICABLE,
    }
    return runtime_tables(summary, **(given | changes))


def test_runtime():
    assert [markdown(table) for table in runtimes()] == [RUNTIME, RATIOS]


def test_runtimes_at_another_epsilon_are_not_compared_with_the_papers():
    cells = scores().replace({"epsilon": {0.1: 0.01}})
    main, ratios = runtimes(cells, epsilon=0.01)
    assert main.sections[0].rows[2].cells[1].text == "0.30"
    assert [cell.published for row in main.rows for cell in row.cells] == [""] * 30
    assert "that the paper published" not in markdown(main)
    assert markdown(ratios).endswith("\n\nNone.\n")


def test_runtimes_of_methods_with_a_claim_are_marked():
    main, ratios = runtimes(methods=CLAIMED)
    assert "BDPT†" in titles(main)
    assert "BDPT†" in titles(ratios)
    assert main.notes[-1] == ratios.notes[-1] == CLAIM
