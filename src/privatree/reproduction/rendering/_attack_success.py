"""How well a backdoor works: means over splits, and what no attack can exceed, one a row.

With ``ASR_0`` the success rate of the trigger on a learner of clean records, each lower bound F on
a score gives an upper bound ``1 - F(1 - ASR_0)`` on the success rate of a poisoned one. The mean
measured here stands for ASR_0, so these are plug-in estimates: nothing is said about how sure they
are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from privatree.baselines.methods import Method
from privatree.privacy import Schedule
from privatree.reproduction.rendering._guarantees import spending_of
from privatree.reproduction.rendering._summaries import rows_of, summarise
from privatree.robustness import bounds
from privatree.robustness.poisoning_bounds import Spending, paper_bound

if TYPE_CHECKING:
    import pandas as pd

    from privatree.reproduction.running._study import Available

ACCURACY, SUCCESS = "accuracy", "asr"
"""What a row has; any other is the letter of a bound on the success rate."""

PAPER_BOUND = "A"
"""The letter of the paper's Corollary 3."""

COLUMNS = (
    *("dataset", "method", "epsilon", "poisoned", "share", "figure"),
    *("value", "standard_error", "n", "note"),
)


def attack_success(
    cells: pd.DataFrame,
    *,
    methods: Sequence[Method],
    found: Sequence[Available],
    depth: int,
    n_training: int,
) -> pd.DataFrame:
    """Mean accuracy and success rate of every setting, and every bound on the latter.

    Parameters
    ----------
    cells : DataFrame
        One split a row: dataset, method, epsilon (NaN without privacy), depth, poisoned, repeat,
        accuracy, asr and a note where there is no score.
    methods : sequence of Method
        Those of the cells.
    found : sequence of Available
        The datasets of the cells. They come in this order, and bounds from the schema of each.
    depth : int
        Of the trees.
    n_training : int
        Training records before they are poisoned.

    Returns
    -------
    DataFrame
        The columns are ``COLUMNS``; a bound has no standard error. Our learner has all bounds of
        its schedule; a method whose epsilon is a claim has the paper's at that epsilon, which is a
        claim too; others have none.
    """
    import pandas as pd

    rows = [
        row
        for dataset in found
        for method in methods
        for _, group in cells[
            (cells["dataset"] == dataset.name) & (cells["method"] == method.id)
        ].groupby("epsilon", dropna=False)
        for row in _of_setting(group, method, dataset, depth, n_training)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _of_setting(
    cells: pd.DataFrame, method: Method, dataset: Available, depth: int, n_training: int
) -> Iterator[tuple[Any, ...]]:
    """The figures of one method at one epsilon, from the fewest poisoned records on."""
    accuracy, success = _means(cells, ACCURACY), _means(cells, SUCCESS)
    limits = _Limits(method, dataset, depth, success.get(0))
    for poisoned, row in success.items():
        setting = (row.dataset, row.method, row.epsilon, poisoned, poisoned / n_training)
        for figure, found in ((ACCURACY, accuracy[poisoned]), (SUCCESS, row)):
            yield (*setting, figure, found.mean, found.standard_error, found.n, found.note)
        for letter, limit in limits.on_success(poisoned).items():
            yield (*setting, letter, limit, math.nan, row.n, "")


def _means(cells: pd.DataFrame, figure: str) -> dict[int, Any]:
    """Mean and standard error over splits, by the number of poisoned records."""
    return {
        number: row
        for number in sorted({int(poisoned) for poisoned in cells["poisoned"]})
        for row in rows_of(summarise(cells[cells["poisoned"] == number], value=figure))
    }


class _Limits:
    """What a method's success rate cannot exceed, from that without poison; None if unknown."""

    def __init__(self, method: Method, dataset: Available, depth: int, clean: Any) -> None:
        self._claimed = method.claimed
        self._spending: Spending | None = None
        if method.private and clean is not None and clean.n:
            self._spending = spending_of(method, dataset.schema, clean.epsilon, depth)
            self._value = 1 - clean.mean

    def on_success(self, poisoned: int) -> dict[str, float]:
        """Every bound by its letter, after so many records were added."""
        if isinstance(self._spending, Schedule):
            left = bounds(self._spending, self._value, poisoned)
        elif self._spending is not None and self._claimed:
            left = {PAPER_BOUND: paper_bound(self._spending.epsilon, self._value, poisoned)}
        else:
            left = {}
        return {letter: 1 - value for letter, value in left.items()}
