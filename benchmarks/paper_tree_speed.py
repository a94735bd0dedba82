"""Training speed of the paper's tree at the size of the paper's largest set, beside scikit-learn.

940,160 x 24 numeric rows as in Higgs, depth 4; the paper took 108 s on its machine. Both learners
train in this process, in turn, on the same rows. The schema is given, as in real use.

    python benchmarks/paper_tree_speed.py [--rows N] [--repeats R] [--json figures.json]
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from privatree import Numeric, PaperClaimWarning, PaperPrivaTreeClassifier, Schema
from result_files import add_json_option, write_result

PAPER_SECONDS = 108


def rows(n: int, m: int = 24) -> tuple[np.ndarray, np.ndarray, Schema]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, m))
    X[:, m // 2 :] = np.exp(X[:, m // 2 :])  # half of the features skewed, as base_measure are
    y = (X[:, 0] + X[:, 1] * X[:, m - 1] + rng.normal(size=n) > 0).astype(int)
    low, high = X.min(axis=0), X.max(axis=0)
    features = {f"x{j}": Numeric(float(low[j]), float(high[j])) for j in range(m)}
    return X, y, Schema(features, [0, 1])


def seconds(model: object, X: np.ndarray, y: np.ndarray) -> float:
    start = time.perf_counter()
    model.fit(X, y)  # type: ignore[attr-defined]
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=940_160)
    parser.add_argument("--repeats", type=int, default=3)
    add_json_option(parser)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", PaperClaimWarning)
    X, y, schema = rows(arguments.rows)
    learners = {
        "scikit-learn DecisionTreeClassifier": lambda: DecisionTreeClassifier(max_depth=4),
        "PaperPrivaTreeClassifier": lambda: PaperPrivaTreeClassifier(0.1, schema=schema),
        "PaperPrivaTreeClassifier, exact quantiles": lambda: PaperPrivaTreeClassifier(
            0.1, schema=schema, quantiles="exact"
        ),
    }
    PaperPrivaTreeClassifier(0.1, schema=schema).fit(X[:1000], y[:1000])  # compile
    times: dict[str, list[float]] = {name: [] for name in learners}
    for _ in range(arguments.repeats):
        for name, make in learners.items():
            times[name].append(seconds(make(), X, y))
    medians = {name: statistics.median(found) for name, found in times.items()}
    peer = medians["scikit-learn DecisionTreeClassifier"]
    print(f"{arguments.rows} x 24 rows, depth 4, median of {arguments.repeats}")
    for name, median in medians.items():
        print(f"  {name:42s} {median:7.2f} s   {median / peer:5.2f} x scikit-learn")
    figures = [
        {"learner": name, "seconds": median, "ratio": median / peer}
        for name, median in medians.items()
    ]
    seeds = "rows are made with seed 0; the learners have none"
    write_result(arguments.json, figures, seeds)
    if arguments.rows == 940_160:
        ours = medians["PaperPrivaTreeClassifier"]
        print(
            f"  the paper's own figure {PAPER_SECONDS} s: {PAPER_SECONDS / ours:.0f} times faster"
        )


if __name__ == "__main__":
    main()
