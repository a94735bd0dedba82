"""Tables of AUC and log loss, from scores that are made up."""

import numpy as np
import pandas as pd

from privatree.baselines import methods
from privatree.reproduction import datasets
from privatree.reproduction.rendering._probability_tables import probability_tables
from privatree.reproduction.rendering._summaries import (
    summarise_scores,
    with_probability_scores,
    with_published_accuracy,
)

SHOWN = [methods.get(name) for name in ("bdpt", "privatree", "privaboost")]


def cells(**added):
    """One fold of each method on adult."""
    rows = {"dataset": "adult", "method": [m.id for m in SHOWN], "epsilon": 0.1, "depth": 4}
    rows |= {"repeat": 0, "fold": 0, "accuracy": 0.8, "fit_seconds": 1.0, "note": ""}
    return pd.DataFrame(rows | added)


def tables(**added):
    found = cells(**added)
    summary = with_published_accuracy(with_probability_scores(summarise_scores(found), found))
    described = [datasets.describe("adult")]
    return probability_tables(summary, epsilon=0.1, methods=SHOWN, datasets=described)


def shown(table):
    (row,) = table.rows
    return [(cell.text, cell.bold) for cell in row.cells]


def test_more_area_and_less_loss_are_bold():
    auc, loss = tables(auc=[np.nan, 0.8, 0.9], log_loss=[np.nan, 0.5, 1.25])
    assert shown(auc) == [("-", False), (".800", False), (".900", True)]
    assert shown(loss) == [("-", False), (".500", True), ("1.250", False)]


def test_older_results_have_no_such_tables():
    assert tables(auc=np.nan, log_loss=np.nan) == []


def test_a_method_without_probabilities_has_a_dash_also_if_it_failed():
    auc, _ = tables(
        auc=[np.nan, np.nan, 0.9],
        log_loss=[np.nan, np.nan, 0.5],
        note=["failed: a", "failed: b", ""],
    )
    assert shown(auc) == [("-", False), ("failed", False), (".900", False)]
