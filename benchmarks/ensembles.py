"""How well private ensembles rank and predict, beside other methods on the same folds.

    python benchmarks/ensembles.py --data-dir DIR [--datasets adult,vote] [--epsilon 0.1,1,4]
        [--methods privaboost,privaboost-pure,privatree,dp-ebm,...] [--widen 10] [--jobs 2]
        [--json figures.json]
    python benchmarks/ensembles.py --data-dir DIR --setting adult-22792|rare|multiclass [...]

Public are the categories and the range of each column, for every method; ``--widen`` declares
ranges so many widths too wide on both sides. Covertype is a fixed draw of 100,000 of its rows.
Methods are those of ``privatree reproduce``; what is not installed is left out. The design's
targets are printed below the means.

5-fold stratified cross-validation, four times below 1,000 rows. Repeat r shuffles with seed
5000 + r and trains fold f with seed 5 r + f; constants of the learner were chosen on other folds,
with seeds 0 to 11. Printed: accuracy, AUC and log loss on the held-out folds, as means with
standard errors, and the median seconds of a fit while ``--jobs`` fits share the machine.

``adult-22792`` trains on 22,792 rows of adult, as a published figure does, with 5 splits by seed.
``rare`` makes up 20,000 records with three features on [-10, 10] and about 4.6% positives.
``multiclass`` is digits, iris and wine of scikit-learn, and nursery with all five classes.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from importlib.util import find_spec
from multiprocessing import get_context
from statistics import mean, median, stdev
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from accuracy import header, schema_of, show
from accuracy import load as load_whole
from privatree import Numeric, Schema
from privatree.baselines.methods import Training, get
from result_files import add_json_option, write_result

NAMES = ("vote", "breast-w", "diabetes", "compas-two-years", "mushroom", "pol", "bank-marketing",
         "MagicTelescope", "default-of-credit-card-clients", "california", "adult",
         "covertype")  # fmt: skip
METHODS = ("privaboost", "privaboost-pure", "privatree", "dp-ebm", "diffprivlib-forest",
           "diffprivlib-logistic", "lightgbm")  # fmt: skip
SETTINGS = {
    "sets": NAMES,
    "adult-22792": ("adult, 22,792 rows",),
    "rare": ("made up, 4.6% positives",),
    "multiclass": ("digits", "iris", "wine", "nursery-5"),
}
# Accuracy and AUC that the means over NAMES must reach.
TARGETS = {
    ("privaboost", 0.1): (0.789, 0.832),
    ("privaboost", 1.0): (0.836, 0.890),
    ("privaboost", 4.0): (0.850, 0.902),
    ("privaboost-pure", 0.1): (0.780, 0.817),
    ("privaboost-pure", 1.0): (0.829, 0.884),
    ("privaboost-pure", 4.0): (0.842, 0.895),
}
FIRST_SEED = 5000
N_COVERTYPE, N_ADULT, N_RARE = 100_000, 22_792, 20_000


class Score(NamedTuple):
    """Of one fold."""

    accuracy: float
    auc: float
    log_loss: float
    seconds: float


class Task(NamedTuple):
    """One repeat of one cell."""

    dataset: str
    method: str
    epsilon: float
    repeat: int
    widen: float
    data_dir: str | None


@cache
def load(name: str, data_dir: str | None) -> tuple[pd.DataFrame, pd.Series]:
    if name.startswith("made up"):
        return make_rare_records()
    frame, labels = load_whole(name.partition(",")[0], data_dir)
    if name == "covertype":
        rows = np.random.default_rng(0).choice(len(frame), N_COVERTYPE, replace=False)
        frame, labels = frame.iloc[rows], labels.iloc[rows]
    return frame, labels


def make_rare_records() -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(N_RARE, 3))
    odds = -4 + 0.96 * values[:, 0] + 0.64 * values[:, 1] + 0.8 * values[:, 0] * (values[:, 2] > 0)
    positive = rng.random(N_RARE) < 1 / (1 + np.exp(-odds))
    frame = pd.DataFrame(values, columns=["x0", "x1", "x2"])
    return frame, pd.Series(positive.astype(int))


def public_schema(name: str, frame: pd.DataFrame, labels: pd.Series, widen: float) -> Schema:
    if name.startswith("made up"):
        return Schema({column: Numeric(-10, 10) for column in frame}, [0, 1])
    return schema_of(frame, labels, widen)


def folds_of(task: Task, frame: pd.DataFrame, labels: pd.Series) -> Iterator[tuple[Any, Any]]:
    seed = FIRST_SEED + task.repeat
    if task.dataset == SETTINGS["adult-22792"][0]:
        split = StratifiedShuffleSplit(1, train_size=N_ADULT, random_state=seed)
        return iter(split.split(frame, labels))
    return iter(StratifiedKFold(5, shuffle=True, random_state=seed).split(frame, labels))


def n_repeats(name: str, data_dir: str | None) -> int:
    if name == SETTINGS["adult-22792"][0]:
        return 5
    return 4 if len(load(name, data_dir)[0]) < 1000 else 1


def cross_validate(task: Task) -> list[Score]:
    warnings.filterwarnings("ignore", message="The least populated class")  # nursery-5: two rows
    frame, labels = load(task.dataset, task.data_dir)
    schema = public_schema(task.dataset, frame, labels, task.widen)
    method = get(task.method)
    scores = []
    for fold, (train, test) in enumerate(folds_of(task, frame, labels)):
        training = Training(schema, task.epsilon, max_depth=4, seed=5 * task.repeat + fold)
        rows, asked = (method.encode(frame.iloc[part], schema) for part in (train, test))
        start = time.perf_counter()
        model = method.classifier(training).fit(rows, labels.iloc[train])
        seconds = time.perf_counter() - start
        scores.append(score_of(model, asked, labels.iloc[test], schema, seconds))
    return scores


def score_of(model: Any, asked: Any, answers: pd.Series, schema: Schema, seconds: float) -> Score:
    classes = list(schema.classes)
    found = model.predict_proba(asked)
    known = list(getattr(model, "classes_", classes))
    shares = np.zeros((len(answers), len(classes)))
    shares[:, [classes.index(label) for label in known]] = found
    shares = np.clip(shares, 1e-15, None)
    shares /= shares.sum(axis=1, keepdims=True)
    actual = answers.map({label: place for place, label in enumerate(classes)}).to_numpy()
    accuracy = float((model.predict(asked) == answers.to_numpy()).mean())
    if len(classes) == 2:
        auc = roc_auc_score(actual, shares[:, 1])
    else:
        is_present = np.isin(np.arange(len(classes)), actual)
        aucs = [roc_auc_score(actual == k, shares[:, k]) for k in np.flatnonzero(is_present)]
        auc = mean(aucs)
    loss = log_loss(actual, shares, labels=list(range(len(classes))))
    return Score(accuracy, float(auc), float(loss), seconds)


def installed(names: list[str]) -> list[str]:
    """Return the methods that can be run here, and print the others."""
    missing = [name for name in names if (needed := get(name).requires) and not find_spec(needed)]
    if missing:
        print(f"not installed, left out: {', '.join(missing)}")
    return [name for name in names if name not in missing]


def figures_of(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    names = arguments.datasets.split(",") if arguments.datasets else SETTINGS[arguments.setting]
    with ProcessPoolExecutor(arguments.jobs, get_context("spawn")) as pool:
        cells: dict[tuple[str, str, float], list[Any]] = {}
        for epsilon in map(float, arguments.epsilon.split(",")):
            for method in installed(arguments.methods.split(",")):
                for name in names:
                    frame, labels = load(name, arguments.data_dir)
                    schema = public_schema(name, frame, labels, 0.0)
                    if not get(method).applies_to(schema):
                        continue
                    cells[name, method, epsilon] = [
                        pool.submit(
                            cross_validate,
                            Task(name, method, epsilon, r, arguments.widen, arguments.data_dir),
                        )
                        for r in range(n_repeats(name, arguments.data_dir))
                    ]
        for (name, method, epsilon), waiting in cells.items():
            folds = [score for task in waiting for score in task.result()]
            found: dict[str, Any] = {"dataset": name, "method": method, "epsilon": epsilon}
            for field, values in zip(Score._fields, zip(*folds, strict=True), strict=True):
                found[field] = median(values) if field == "seconds" else mean(values)
                found[f"{field}_error"] = stdev(values) / math.sqrt(len(values))
            yield found | {"widen": arguments.widen}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data-dir")
    parser.add_argument("--setting", choices=SETTINGS, default="sets")
    parser.add_argument("--datasets")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--epsilon", default="0.1,1,4")
    parser.add_argument("--widen", type=float, default=0.0)
    parser.add_argument("--jobs", type=int, default=2)
    add_json_option(parser)
    arguments = parser.parse_args()
    header("dataset", "method", "epsilon", "accuracy", "AUC", "log loss", "seconds")
    figures = []
    for found in figures_of(arguments):
        figures.append(found)
        cells = [f"{found[n]:.3f} ± {found[f'{n}_error']:.3f}" for n in Score._fields[:3]]
        show(found["dataset"], found["method"], f"{found['epsilon']:g}", *cells, found["seconds"])
    for method, epsilon in dict.fromkeys((row["method"], row["epsilon"]) for row in figures):
        rows = [row for row in figures if (row["method"], row["epsilon"]) == (method, epsilon)]
        means = [mean(row[field] for row in rows) for field in Score._fields]
        show(f"mean of {len(rows)}", method, f"{epsilon:g}", *means)
        if len(rows) == len(NAMES) and not arguments.widen and (method, epsilon) in TARGETS:
            show("target", method, f"{epsilon:g}", *TARGETS[method, epsilon], None, None)
    seeds = (
        f"repeat r shuffles with seed {FIRST_SEED} + r; fold f trains with seed 5 r + f; "
        "covertype's rows and made up records by seed 0"
    )
    write_result(arguments.json, figures, seeds)


if __name__ == "__main__":
    main()
