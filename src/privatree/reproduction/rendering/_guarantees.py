"""What poisoning leaves of a measured accuracy: from means to guarantees, one a row.

An *edit* is a record added or removed; a changed one is two. The mean accuracy stands for the
expected one, so these are plug-in estimates: nothing is said about how sure they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from privatree import PrivaTreeClassifier
from privatree.baselines.methods import Method, Training
from privatree.reproduction.rendering._summaries import rows_of
from privatree.reproduction.running._study import Available
from privatree.reproduction.running._tasks import n_edits
from privatree.robustness import EpsilonDP, best
from privatree.robustness.poisoning_bounds import Spending, paper_bound
from privatree.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

ACCURACY, PAPER, BEST = "accuracy", "paper's bound", "best bound"
"""What a row has: the accuracy itself, or what one of the two leaves of it."""

COLUMNS = (
    *("dataset", "method", "epsilon", "figure", "share", "edits", "bound"),
    *("value", "standard_error", "n", "note"),
)


def spending_of(method: Method, schema: Schema, epsilon: float, depth: int) -> Spending:
    """What is known of how a private method spends its epsilon.

    Of our own learner it is every plan that it could follow, whatever the records are, so it is
    asked for them with none; of any other only its epsilon.
    """
    import pandas as pd

    classifier = method.classifier(Training(schema, epsilon, depth, 0))
    if not isinstance(classifier, PrivaTreeClassifier):
        return EpsilonDP(epsilon)
    nothing = pd.DataFrame({name: [] for name in schema.names}, dtype=object)
    statement = classifier.fit(nothing, pd.Series([], dtype=object)).privacy_
    return statement.schedule or EpsilonDP(epsilon)


def guarantees(
    summary: pd.DataFrame,
    *,
    methods: Sequence[Method],
    found: Sequence[Available],
    shares: Sequence[Fraction],
    depth: int,
) -> pd.DataFrame:
    """The accuracy of every setting, and what is left of it after edits, by both bounds.

    Parameters
    ----------
    summary : DataFrame
        What :func:`privatree.reproduction.rendering._summaries.summarise` returns.
    methods, found : sequence
        What the settings are about.
    shares : sequence of Fraction
        Shares of the training records.
    depth : int
        Of the trees.

    Returns
    -------
    DataFrame
        The columns are ``COLUMNS``. A setting without privacy or without scores has its accuracy
        only. The standard error of a guarantee is given where it is a multiple of the accuracy.
    """
    import pandas as pd

    by_name = {dataset.name: dataset for dataset in found}
    by_id = {method.id: method for method in methods}
    rows = [
        figure
        for row in rows_of(summary)
        for figure in _figures(row, by_id[row.method], by_name[row.dataset], shares, depth)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _figures(
    row: Any, method: Method, dataset: Available, shares: Sequence[Fraction], depth: int
) -> Iterator[tuple[Any, ...]]:
    setting = (row.dataset, row.method, row.epsilon)
    scores = (row.n, row.note)
    yield (*setting, ACCURACY, 0.0, 0, "", row.mean, row.standard_error, *scores)
    if not method.private or not row.n:
        return
    spending = spending_of(method, dataset.schema, row.epsilon, depth)
    for share in shares:
        edits = n_edits(dataset.n_records, share)
        where = (float(share), edits)
        left, error = (paper_bound(row.epsilon, v, edits) for v in (row.mean, row.standard_error))
        yield (*setting, PAPER, *where, "A", left, error, *scores)
        certified = best(spending, row.mean, edits)
        yield (*setting, BEST, *where, certified.bound, certified.value, math.nan, *scores)
