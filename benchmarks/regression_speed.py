"""Training speed of the learners for numbers, beside those for classes on the same rows.

    python benchmarks/regression_speed.py [--rows 1000000] [--repeats 3] [--epsilon 0.1,1]
        [--json figures.json]

The rows are those of ``benchmarks/speed.py``, with a number as target. The classifier beside
``PrivaTreeRegressor`` has 18 classes, as many as the regression tree has levels: the target cut at
its quantiles. The classifier beside ``PrivaBoostRegressor`` has two; both have 100 rounds. All
train in this process, in turn, each once before the clock starts. Medians, and ratios in the same
run. Adult's hours per week come last.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from privatree import (
    PrivaBoostClassifier,
    PrivaBoostRegressor,
    PrivaTreeClassifier,
    PrivaTreeRegressor,
    Schema,
    Target,
    datasets,
)
from result_files import add_json_option, write_result
from speed import in_turn, make_rows

N_CLASSES = 18
PAIRS = (("PrivaTreeRegressor", f"PrivaTreeClassifier, {N_CLASSES} classes"),
         ("PrivaBoostRegressor", "PrivaBoostClassifier, 2 classes"))  # fmt: skip


def compare(rows: int, repeats: int, epsilon: float) -> list[dict[str, Any]]:
    """Print the seconds of each learner, and return them with the ratio to the classifier."""
    X, _, schema = make_rows(rows)
    target = X[:, 0] + X[:, 1] * X[:, -1] + np.random.default_rng(1).standard_normal(rows)
    classes = np.searchsorted(np.quantile(target, np.arange(1, N_CLASSES) / N_CLASSES), target)
    numbers = Schema(schema.features, target=Target(-100, 100))
    many = Schema(schema.features, list(range(N_CLASSES)))
    of_class, of_number = {"schema": many}, {"schema": numbers}
    given: dict[str, tuple[Callable[..., Any], dict[str, Any], np.ndarray]] = {
        PAIRS[0][0]: (PrivaTreeRegressor, of_number, target),
        PAIRS[0][1]: (PrivaTreeClassifier, of_class, classes),
        PAIRS[1][0]: (PrivaBoostRegressor, of_number | {"rounds": 100}, target),
        PAIRS[1][1]: (PrivaBoostClassifier, {"schema": schema, "rounds": 100}, target > 0),
    }

    def fit(name: str) -> None:
        make, parameters, y = given[name]
        make(epsilon, random_state=0, **parameters).fit(X, y)

    found = in_turn({name: partial(fit, name) for name in given}, repeats)
    print(f"fit, {rows:,} x {X.shape[1]} rows, epsilon {epsilon:g}, median of {repeats}, in turn")
    figures = []
    for number, beside in PAIRS:
        ratio = found[number] / found[beside]
        print(f"  {number:24}{found[number]:8.3f} s")
        print(f"  {beside:36}{found[beside]:8.3f} s   ratio {ratio:.2f}")
        figures.append(
            {
                "learner": number,
                "beside": beside,
                "epsilon": epsilon,
                "fit_seconds": found[number],
                "beside_seconds": found[beside],
                "ratio": ratio,
            }
        )
    return figures


def adult(epsilon: float) -> None:
    frame, _, schema = datasets.load("adult")
    hours = frame.pop("hours-per-week")
    schema = Schema(
        {name: schema.features[name] for name in frame}, target=Target(0, 100, integer=True)
    )
    calls = {
        make.__name__: partial(make(epsilon, schema=schema, random_state=0).fit, frame, hours)
        for make in (PrivaTreeRegressor, PrivaBoostRegressor)
    }
    print(f"adult, hours per week, {len(frame):,} rows, epsilon {epsilon:g}, median of 5")
    for name, seconds in in_turn(calls, 5).items():
        print(f"  {name:24}{seconds:8.3f} s")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--epsilon", default="0.1,1")
    add_json_option(parser)
    arguments = parser.parse_args()
    epsilons = [float(epsilon) for epsilon in arguments.epsilon.split(",")]
    figures = [
        figure
        for epsilon in epsilons
        for figure in compare(arguments.rows, arguments.repeats, epsilon)
    ]
    write_result(arguments.json, figures, "rows are made with seeds 0 and 1; random_state 0")
    for epsilon in epsilons:
        adult(epsilon)


if __name__ == "__main__":
    main()
