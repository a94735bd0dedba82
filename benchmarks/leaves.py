"""What a reader of the tree gets: leaves with nobody in them, and how well the tree ranks.

    python benchmarks/leaves.py --data-dir DIR [--epsilon 0.1,1] [--widen 0.5] [--raw] [--jobs 2]
        [--json figures.json]
    python benchmarks/leaves.py --data-dir DIR --rare [--epsilon 1] [...]

Ranges are declared ``--widen`` widths too wide on both sides, as a careful person would. Printed
for each dataset: accuracy and AUC on the held-out fold, the number of leaves, and the share of
leaves that no training record reaches, as means with standard errors. ``--raw`` switches leaf
counts and simplification off. ``--rare`` draws 20,000 records with 5% positives from adult, and
makes up such a dataset.

5-fold stratified cross-validation, four times below 1,000 rows. Repeat r shuffles with seed r and
trains fold f with random_state 5 r + f.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from statistics import mean, stdev
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from accuracy import header, load, schema_of, show
from privatree import PrivaTreeClassifier
from result_files import add_json_option, write_result

NAMES = ("adult", "california", "MagicTelescope", "compas-two-years", "breast-w", "diabetes", "pol")
RARE = ("adult, 5% positives", "made up, 5% positives")
TARGETS = {0.1: (0.787, 0.778, None, 0.10), 1.0: (0.816, 0.827, None, 0.03)}
N_RARE, RARE_SHARE = 20_000, 0.05


class Score(NamedTuple):
    """Of one fold."""

    accuracy: float
    auc: float
    leaves: float
    empty: float


def records_of(name: str, data_dir: str | None) -> tuple[pd.DataFrame, pd.Series]:
    if name not in RARE:
        return load(name, data_dir)
    rng = np.random.default_rng(0)
    n_positive = int(N_RARE * RARE_SHARE)
    if name == RARE[0]:
        frame, labels = load("adult", data_dir)
        is_positive = (labels == sorted(labels.unique())[1]).to_numpy()
        rows = np.concatenate(
            [
                rng.choice(np.flatnonzero(is_positive), n_positive, replace=False),
                rng.choice(np.flatnonzero(~is_positive), N_RARE - n_positive, replace=False),
            ]
        )
        return frame.iloc[rows], labels.iloc[rows]
    values = rng.normal(size=(N_RARE, 8))
    risk = values[:, 0] + 0.7 * values[:, 1] * (values[:, 2] > 0) + rng.normal(size=N_RARE)
    positive = np.zeros(N_RARE, dtype=int)
    positive[np.argsort(risk)[-n_positive:]] = 1
    return pd.DataFrame(values, columns=[f"x{j}" for j in range(8)]), pd.Series(positive)


def cross_validate(
    name: str, epsilon: float, repeat: int, widen: float, raw: bool, data_dir: str | None
) -> list[Score]:
    frame, labels = records_of(name, data_dir)
    schema = schema_of(frame, labels, widen)
    options: dict[str, Any] = {"probability_share": 0, "simplify": False} if raw else {}
    scores = []
    folds = StratifiedKFold(5, shuffle=True, random_state=repeat).split(frame, labels)
    for fold, (train, test) in enumerate(folds):
        model = PrivaTreeClassifier(
            epsilon, schema=schema, random_state=5 * repeat + fold, **options
        ).fit(frame.iloc[train], labels.iloc[train])
        asked, answers = frame.iloc[test], labels.iloc[test]
        auc = roc_auc_score(answers == schema.classes[1], model.predict_proba(asked)[:, 1])
        n_reached = len(np.unique(model.apply(frame.iloc[train])))
        n_leaves = model.tree_.n_leaves
        scores.append(
            Score(model.score(asked, answers), float(auc), n_leaves, 1 - n_reached / n_leaves)
        )
    return scores


def figures_of(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    names = RARE if arguments.rare else NAMES
    fixed = (arguments.widen, arguments.raw, arguments.data_dir)
    with ProcessPoolExecutor(arguments.jobs, get_context("spawn")) as pool:
        tasks = {
            (name, epsilon): [
                pool.submit(cross_validate, name, epsilon, repeat, *fixed)
                for repeat in range(n_repeats(name, arguments.data_dir))
            ]
            for epsilon in map(float, arguments.epsilon.split(","))
            for name in names
        }
        for (name, epsilon), waiting in tasks.items():
            columns = zip(*(score for task in waiting for score in task.result()), strict=True)
            found: dict[str, Any] = {"dataset": name, "epsilon": epsilon}
            for field, values in zip(Score._fields, columns, strict=True):
                found[field] = mean(values)
                found[f"{field}_error"] = stdev(values) / math.sqrt(len(values))
            yield found | {"widen": arguments.widen, "raw": arguments.raw}


def n_repeats(name: str, data_dir: str | None) -> int:
    return 4 if name not in RARE and len(load(name, data_dir)[0]) < 1000 else 1


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data-dir")
    parser.add_argument("--epsilon", default=None)
    parser.add_argument("--widen", type=float, default=0.5)
    parser.add_argument("--raw", action="store_true")
    parser.add_argument("--rare", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    add_json_option(parser)
    arguments = parser.parse_args()
    arguments.epsilon = arguments.epsilon or ("1" if arguments.rare else "0.1,1")
    header("dataset", "epsilon", "accuracy", "AUC", "leaves", "leaves with nobody")
    figures = []
    for found in figures_of(arguments):
        figures.append(found)
        cells = [f"{found[name]:.3f} ± {found[f'{name}_error']:.3f}" for name in Score._fields]
        show(found["dataset"], f"{found['epsilon']:g}", *cells)
    for epsilon in dict.fromkeys(found["epsilon"] for found in figures):
        rows = [found for found in figures if found["epsilon"] == epsilon]
        show("mean", f"{epsilon:g}", *(mean(row[name] for row in rows) for name in Score._fields))
        if not arguments.rare and epsilon in TARGETS:
            show("target", f"{epsilon:g}", *TARGETS[epsilon])
    seeds = "repeat r shuffles the folds with seed r; fold f trains with random_state 5 r + f"
    write_result(arguments.json, figures, seeds)


if __name__ == "__main__":
    main()
