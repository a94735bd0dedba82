"""All trainings of a forecast, in at most two processes, or their results from the cache."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean, stdev
from typing import TYPE_CHECKING

from privatree._support.progress import progress_bar
from privatree._support.validation import check_integer
from privatree.forecast._cache import load_cached_forecast, store_in_cache
from privatree.forecast._result import Forecast, TableScores
from privatree.forecast._setting import Setting, checked_setting

if TYPE_CHECKING:
    from privatree.forecast._trainings import Repeat

_BUNDLED_REPEATS, _MADE_UP_REPEATS = 5, 1
_MAX_JOBS = 2


def forecast(
    records: int,
    epsilon: float | Sequence[float],
    *,
    classes: int = 2,
    features: int | None = None,
    majority_share: float | None = None,
    model: str = "tree",
    without: str | Sequence[str] = (),
    seed: int = 0,
    n_jobs: int = 1,
    cache: bool = True,
    progress: bool | None = None,
) -> Forecast:
    """Forecast what privacy will cost, from other data, before anything is spent.

    No record of yours is read, and no epsilon is spent. Models are trained with and without privacy
    on the bundled datasets (:mod:`privatree.datasets`), thinned to as many records, and on 24
    tables of made-up records. What privacy cost there is a guide to what it will cost you: the mean
    is the forecast, and the range over the tables says how much the cost depends on the data.

    Everything that you pass must be public knowledge. Do not count it from your records.

    Parameters
    ----------
    records : int
        Number of your training records, 100 to 100,000. A rough number will do.
    epsilon : float or sequence of float
        Privacy budgets to compare.
    classes : int, default=2
        Number of classes.
    features : int, optional
        Number of features. By default, tables have 6 to 20.
    majority_share : float, optional
        Share of the most frequent class, up to 0.99. By default, tables have from equal classes
        to 0.85. What privacy costs in AUC depends much on it.
    model : {"tree", "boost"}, default="tree"
        ``"tree"`` compares :class:`~privatree.PrivaTreeClassifier` with scikit-learn's tree of the
        same depth, ``"boost"`` compares :class:`~privatree.PrivaBoostClassifier` with
        scikit-learn's ``HistGradientBoostingClassifier``.
    without : str or sequence of str, default=()
        Bundled datasets to leave out.
    seed : int, default=0
        Seed of all random choices. The same seed gives the same forecast.
    n_jobs : int, default=1
        Number of processes, 1 or 2. The result does not depend on it.
    cache : bool, default=True
        Whether to use the result of an earlier call with the same parameters and versions, and to
        keep this one, in the user's cache folder.
    progress : bool, optional
        Whether to show a progress bar. By default it is shown if stderr is a terminal.

    Returns
    -------
    Forecast
        What to expect, and what was measured on each table. ``print`` shows it as a table.

    Raises
    ------
    ParameterError
        If a parameter is wrong.

    Notes
    -----
    A bundled dataset is left out if it has another number of classes, or if more than 80% of it
    would be trained on. A dataset on which accuracy and AUC are 0.98 or more without privacy is
    measured, but does not count in the forecast: records of people are hardly ever that easy.

    Examples
    --------
    >>> from privatree.forecast import forecast
    >>> (expected,) = forecast(100, 0.5, cache=False).expected
    >>> expected.accuracy.lowest < expected.accuracy.mean < expected.accuracy.highest
    True
    """
    setting = checked_setting(
        records,
        epsilon,
        classes=classes,
        features=features,
        majority_share=majority_share,
        model=model,
        without=without,
        seed=seed,
    )
    check_integer("n_jobs", n_jobs, 1, _MAX_JOBS)
    if cache and (found := load_cached_forecast(setting)) is not None:
        return found
    measured = _measure(setting, n_jobs, progress)
    if cache:
        store_in_cache(measured)
    return measured


def _measure(setting: Setting, n_jobs: int, progress: bool | None) -> Forecast:
    from sklearn.utils.parallel import Parallel, delayed

    from privatree.forecast._bundled import usable_datasets
    from privatree.forecast._made_up import N_TABLES
    from privatree.forecast._trainings import train_once

    usable, left_out = usable_datasets(setting)
    repeats: dict[str | int, int] = dict.fromkeys(usable, _BUNDLED_REPEATS)
    repeats |= dict.fromkeys(range(N_TABLES), _MADE_UP_REPEATS)
    tasks = [(table, repeat) for table, n_repeats in repeats.items() for repeat in range(n_repeats)]
    found: dict[str | int, list[Repeat]] = {table: [] for table in repeats}
    n_trainings = 1 + len(setting.epsilons)
    with progress_bar(len(tasks) * n_trainings, progress, "trainings") as advance:
        parallel = Parallel(n_jobs=n_jobs, return_as="generator")
        results = parallel(delayed(train_once)(table, setting, repeat) for table, repeat in tasks)
        for (table, _), result in zip(tasks, results, strict=True):
            found[table].append(result)
            advance(n_trainings)
    rows = [row for table, results in found.items() for row in _table_rows(table, results, setting)]
    return Forecast(setting, tuple(rows), left_out)


def _table_rows(table: str | int, repeats: Sequence[Repeat], setting: Setting) -> list[TableScores]:
    """Return the mean scores on a table, for each epsilon."""
    rows = []
    for place, epsilon in enumerate(setting.epsilons):
        pairs = [(repeat.plain, repeat.private[place]) for repeat in repeats]
        rows.append(
            TableScores(
                table=table if isinstance(table, str) else f"made up {table + 1}",
                bundled=isinstance(table, str),
                epsilon=epsilon,
                repeats=len(pairs),
                accuracy=mean(private.accuracy for _, private in pairs),
                auc=mean(private.auc for _, private in pairs),
                plain_accuracy=mean(plain.accuracy for plain, _ in pairs),
                plain_auc=mean(plain.auc for plain, _ in pairs),
                accuracy_deviation=_deviation([p.accuracy - q.accuracy for p, q in pairs]),
                auc_deviation=_deviation([p.auc - q.auc for p, q in pairs]),
            )
        )
    return rows


def _deviation(values: Sequence[float]) -> float | None:
    return stdev(values) if len(values) > 1 else None
