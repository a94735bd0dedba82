"""Prediction speed beside scikit-learn: the same tree, the same rows, the same run.

A scikit-learn tree is fitted, written over into a privatree ``Tree`` and both predict one million
rows of 24 numbers. The predictions must be identical; the medians and their ratio are printed.

Run: ``python benchmarks/predict_speed.py [--json figures.json]``
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from privatree.model import Tree, TreeBuilder
from privatree.schema import Numeric, Schema
from result_files import add_json_option, write_result

N_ROWS, N_FEATURES, N_RUNS = 1_000_000, 24, 9


def make_rows() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Make random rows that are exact in single precision, which scikit-learn uses to compare."""
    generator = np.random.default_rng(20240501)
    rows = generator.random((N_ROWS, N_FEATURES), dtype=np.float32).astype(np.float64)
    score = rows[:, 0] + rows[:, 1] * rows[:, 2] + 0.5 * rows[:, 3:].mean(axis=1)
    labels = (score + generator.normal(scale=0.3, size=N_ROWS) > 1.0).astype(np.int64)
    return rows, labels


def convert(fitted: DecisionTreeClassifier) -> Tree:
    """Convert a scikit-learn tree into the same privatree tree, node by node from the root."""
    arrays = fitted.tree_
    schema = Schema(
        features={f"x{position}": Numeric(0.0, 1.0) for position in range(N_FEATURES)},
        classes=fitted.classes_.tolist(),
    )
    builder = TreeBuilder(schema)
    waiting = [(0, builder.root)]
    for theirs, ours in waiting:  # grows while it is read: level by level
        if arrays.children_left[theirs] < 0:
            builder.leaf(ours, int(arrays.value[theirs, 0].argmax()))
            continue
        left, right = builder.split_numeric(
            ours, int(arrays.feature[theirs]), float(arrays.threshold[theirs])
        )
        waiting.append((int(arrays.children_left[theirs]), left))
        waiting.append((int(arrays.children_right[theirs]), right))
    return builder.build()


def seconds(predict: Callable[[], object]) -> float:
    start = time.perf_counter()
    predict()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser()
    add_json_option(parser)
    arguments = parser.parse_args()
    figures = []
    rows, labels = make_rows()
    columns = np.arange(N_FEATURES)
    print(f"{N_ROWS:,} rows x {N_FEATURES} features, float64, median of {N_RUNS} runs")
    for depth in (4, 10):
        fitted = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(rows, labels)
        tree = convert(fitted)
        if not np.array_equal(fitted.predict(rows), tree.predict(rows, columns)):
            raise SystemExit(f"depth {depth}: the predictions differ")
        theirs, ours = [], []
        for _ in range(N_RUNS):  # in turns, so that a busy machine disturbs both alike
            theirs.append(seconds(lambda fitted=fitted: fitted.predict(rows)))
            ours.append(seconds(lambda tree=tree: tree.predict(rows, columns)))
        print(
            f"depth {depth:2d} ({tree.n_leaves} leaves): "
            f"scikit-learn {median(theirs) * 1e3:6.1f} ms, privatree {median(ours) * 1e3:6.1f} ms, "
            f"scikit-learn / privatree = {median(theirs) / median(ours):.1f}"
        )
        figures.append(
            {
                "depth": depth,
                "leaves": int(tree.n_leaves),
                "scikit_learn_ms": median(theirs) * 1e3,
                "privatree_ms": median(ours) * 1e3,
                "ratio": median(theirs) / median(ours),
            }
        )
    write_result(arguments.json, figures, "rows are made with seed 20240501; random_state 0")


if __name__ == "__main__":
    main()
