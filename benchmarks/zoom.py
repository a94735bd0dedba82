"""What it brings to zoom in on numbers: accuracy with and without, on the same folds and seeds.

    python benchmarks/zoom.py --data-dir DIR [--datasets adult,pol] [--epsilon 0.1,1]
        [--widen 0,0.5,10] [--repeats 1] [--jobs 2] [--json figures.json]

``--widen`` lists by how many widths the declared range of every number is too wide on both sides.
Printed for each dataset, epsilon and width: the accuracy without zoom and with it, their standard
errors, the mean of the differences by fold with its own standard error, the same for AUC, the
number of intervals that were drawn, and the ratio of the times of a fit. Where no interval is
drawn, the trees are the same.

5-fold stratified cross-validation, ``--repeats`` times, four times as often below 1,000 rows.
Repeat r shuffles with seed r and trains fold f with random_state 5 r + f.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from statistics import mean, median, stdev
from typing import Any, NamedTuple

from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from accuracy import DESIGN, header, load, schema_of, show
from privatree import PrivaTreeClassifier
from result_files import add_json_option, write_result


class Score(NamedTuple):
    """Of one fold, without zoom and with it."""

    plain: float
    zoomed: float
    plain_auc: float
    zoomed_auc: float
    intervals: int
    seconds_ratio: float


def cross_validate(
    name: str, epsilon: float, widen: float, repeat: int, data_dir: str | None
) -> list[Score]:
    frame, labels = load(name, data_dir)
    schema = schema_of(frame, labels, widen)
    scores = []
    folds = StratifiedKFold(5, shuffle=True, random_state=repeat).split(frame, labels)
    for fold, (train, test) in enumerate(folds):
        rows, answers = frame.iloc[train], labels.iloc[train]
        found, seconds = [], []
        for zoom in (False, True):
            model = PrivaTreeClassifier(
                epsilon, schema=schema, zoom=zoom, random_state=5 * repeat + fold
            )
            start = time.perf_counter()
            model.fit(rows, answers)
            seconds.append(time.perf_counter() - start)
            found.append(model)
        asked, expected = frame.iloc[test], labels.iloc[test]
        is_second = expected == schema.classes[1]
        purposes = [spend.purpose for spend in found[1].privacy_.spends]
        scores.append(
            Score(
                *(float(model.score(asked, expected)) for model in found),
                *(
                    float(roc_auc_score(is_second, model.predict_proba(asked)[:, 1]))
                    for model in found
                ),
                sum(purpose.startswith("interval of ") for purpose in purposes),
                seconds[1] / seconds[0],
            )
        )
    return scores


def error(values: list[float]) -> float:
    return stdev(values) / math.sqrt(len(values))


def figures_of(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    cells = product(
        map(float, arguments.epsilon.split(",")),
        arguments.datasets.split(","),
        map(float, arguments.widen.split(",")),
    )
    with ProcessPoolExecutor(arguments.jobs, get_context("spawn")) as pool:
        tasks = {
            (name, epsilon, widen): [
                pool.submit(cross_validate, name, epsilon, widen, repeat, arguments.data_dir)
                for repeat in range(n_repeats(name, arguments))
            ]
            for epsilon, name, widen in cells
        }
        for (name, epsilon, widen), waiting in tasks.items():
            scores = [score for task in waiting for score in task.result()]
            gains = [score.zoomed - score.plain for score in scores]
            auc_gains = [score.zoomed_auc - score.plain_auc for score in scores]
            yield {
                "dataset": name,
                "epsilon": epsilon,
                "widen": widen,
                "plain": mean(score.plain for score in scores),
                "plain_error": error([score.plain for score in scores]),
                "zoomed": mean(score.zoomed for score in scores),
                "zoomed_error": error([score.zoomed for score in scores]),
                "gain": mean(gains),
                "gain_error": error(gains),
                "auc_gain": mean(auc_gains),
                "auc_gain_error": error(auc_gains),
                "intervals": mean(score.intervals for score in scores),
                "seconds_ratio": median(score.seconds_ratio for score in scores),
            }


def n_repeats(name: str, arguments: argparse.Namespace) -> int:
    small = len(load(name, arguments.data_dir)[0]) < 1000
    return int(arguments.repeats) * (4 if small else 1)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data-dir")
    parser.add_argument("--datasets", default=",".join(DESIGN))
    parser.add_argument("--epsilon", default="0.1,1")
    parser.add_argument("--widen", default="0,0.5,10")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    add_json_option(parser)
    arguments = parser.parse_args()
    header("dataset", "epsilon", "too wide by", "without", "with", "gain", "gain in AUC",
           "intervals", "ratio of seconds")  # fmt: skip
    figures = []
    for found in figures_of(arguments):
        figures.append(found)
        show(
            found["dataset"],
            f"{found['epsilon']:g}",
            f"{found['widen']:g}",
            *(f"{found[key]:.4f} ± {found[f'{key}_error']:.4f}" for key in ("plain", "zoomed")),
            *(f"{found[key]:+.4f} ± {found[f'{key}_error']:.4f}" for key in ("gain", "auc_gain")),
            f"{found['intervals']:g}",
            f"{found['seconds_ratio']:.2f}",
        )
    print()
    header("mean over", "epsilon", "too wide by", "without", "with", "gain", "gain in AUC")
    for epsilon, widen in sorted({(row["epsilon"], row["widen"]) for row in figures}):
        rows = [row for row in figures if (row["epsilon"], row["widen"]) == (epsilon, widen)]
        plain, zoomed, gain, auc_gain = (
            mean(row[key] for row in rows) for key in ("plain", "zoomed", "gain", "auc_gain")
        )
        show(f"{len(rows)} datasets", f"{epsilon:g}", f"{widen:g}", f"{plain:.4f}",
             f"{zoomed:.4f}", f"{gain:+.4f}", f"{auc_gain:+.4f}")  # fmt: skip
    seeds = "repeat r shuffles the folds with seed r; fold f trains with random_state 5 r + f"
    write_result(arguments.json, figures, seeds)


if __name__ == "__main__":
    main()
