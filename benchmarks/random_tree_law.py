"""Our random tree beside DiffPrivLib's: do they have the same law?

    python benchmarks/random_tree_law.py [--fits 300] [--epsilon 0.1]

Both are fitted many times to the same records, with different seeds, and what comes out is
compared: the feature and the place of the first splits, the labels of the leaves, predictions and
accuracy. Printed: a p-value for each comparison, and for accuracy the difference of the means in
standard errors. Exit code 1 if a p-value is below 1e-6. Needs diffprivlib: the environment of
``make bench``.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import chi2_contingency, ks_2samp, norm

from privatree import Categorical, Numeric, Schema, datasets
from privatree.baselines import RandomTreeClassifier, methods
from privatree.baselines._other_libraries import diffprivlib_bounds
from privatree.baselines.methods import Training

METHOD = methods.get("diffprivlib-tree")
MIN_P = 1e-6
MIN_EXPECTED = 5
N_PROBES = 3  # rows whose predictions are compared together: few, so that no cell is empty


class Problem(NamedTuple):
    """Records to train on, with the settings of the training."""

    name: str
    frame: pd.DataFrame
    labels: pd.Series[str]
    schema: Schema
    max_depth: int

    @property
    def has_constant(self) -> bool:
        """Return whether our trees leave out splits that send all records to the left."""
        lows, highs = diffprivlib_bounds(self.schema)
        return bool((lows == highs).any())


class Fit(NamedTuple):
    """What is compared of one fitted tree.

    The place of a split is how far in the feature's range its threshold lies, or which share of
    the categories goes left.
    """

    root_feature: int
    root_place: float
    left_place: float
    right_place: float
    first_class_share: float
    """Of the leaves."""
    predictions: tuple[Any, ...]
    """Of a few rows."""
    accuracy: float


def problems() -> Iterator[Problem]:
    frame = pd.DataFrame(
        {
            "x": [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0],
            "kind": pd.Categorical(list("abcabcabcabc"), categories=list("abcd")),
        }
    )
    labels = pd.Series(["0", "0", "1", "0", "2", "1", "1", "0", "1", "1", "2", "1"])
    features = {"x": Numeric(0, 1), "kind": Categorical(list("abcd"))}
    classes = ["0", "1", "2"]
    yield Problem("tiny", frame, labels, Schema(features, classes), 2)
    constant = Schema(features | {"same": Numeric(3, 3), "one": Categorical(["only"])}, classes)
    more = frame.assign(same=3.0, one=pd.Categorical(["only"] * len(frame)))
    yield Problem("tiny, two constants", more, labels, constant, 2)
    for name in ("breast-w", "nursery", "adult"):
        yield Problem(name, *datasets.load(name), 4)


# --- one fit of each ----------------------------------------------------------------------------


def ours(problem: Problem, epsilon: float, seed: int) -> Fit:
    model = RandomTreeClassifier(
        epsilon, max_depth=problem.max_depth, schema=problem.schema, random_state=seed
    ).fit(problem.frame, problem.labels)
    tree = model.tree_
    features = list(problem.schema.features.values())

    def place(node: int) -> float:
        feature = features[tree.feature[node]]
        if tree.feature[node] < 0:  # there were constants only
            return math.nan
        if isinstance(feature, Categorical):
            return len(tree.left_codes(node)) / len(feature.categories)
        return float((tree.threshold[node] - feature.low) / (feature.high - feature.low))

    return Fit(
        int(tree.feature[0]),
        *(place(node) for node in (0, tree.left[0], tree.right[0])),
        float(np.mean(tree.label[tree.feature < 0] == 0)),
        *outcomes(model.predict(problem.frame), problem),
    )


def theirs(problem: Problem, epsilon: float, seed: int) -> Fit:
    X = METHOD.encode(problem.frame, problem.schema)
    model = METHOD.classifier(Training(problem.schema, epsilon, problem.max_depth, seed))
    tree = model.fit(X, problem.labels).tree_
    features = list(problem.schema.features.values())

    def place(node: int) -> float:
        feature, threshold = features[tree.feature[node]], tree.threshold[node]
        if isinstance(feature, Categorical):
            return (math.floor(threshold) + 1) / len(feature.categories)
        return float((threshold - feature.low) / ((feature.high - feature.low) or math.nan))

    return Fit(
        int(tree.feature[0]),
        *(place(node) for node in (0, tree.children_left[0], tree.children_right[0])),
        float(np.mean(tree.value[tree.children_left < 0, 0].argmax(axis=1) == 0)),
        *outcomes(model.predict(X), problem),
    )


def outcomes(predicted: NDArray[Any], problem: Problem) -> tuple[tuple[Any, ...], float]:
    probes = np.linspace(0, len(predicted) - 1, N_PROBES).astype(int)
    return tuple(predicted[probes].tolist()), float(np.mean(predicted == problem.labels.to_numpy()))


# --- comparisons --------------------------------------------------------------------------------


def same_frequencies(one: Sequence[Hashable], other: Sequence[Hashable]) -> float:
    """Return the p-value of a chi-square test; rare values are merged."""
    counts = [Counter(one), Counter(other)]
    values = sorted(set(one) | set(other), key=lambda value: -sum(c[value] for c in counts))
    cells = np.array([[count[value] for value in values] for count in counts])
    n_common = int(np.sum(cells.sum(axis=0) >= 2 * MIN_EXPECTED))
    merged = np.column_stack([cells[:, :n_common], cells[:, n_common:].sum(axis=1)])
    merged = merged[:, merged.sum(axis=0) > 0]
    return float(chi2_contingency(merged).pvalue) if merged.shape[1] > 1 else 1.0


def compared(problem: Problem, one: Sequence[Fit], other: Sequence[Fit]) -> dict[str, float]:
    """Return a p-value for each statistic in which the two implementations may differ."""
    first, second = Fit(*zip(*one, strict=True)), Fit(*zip(*other, strict=True))
    found = {
        "predictions": same_frequencies(first.predictions, second.predictions),
        "accuracy": ks_2samp(first.accuracy, second.accuracy).pvalue,
        "mean accuracy": 2 * norm.sf(abs(standard_errors(first.accuracy, second.accuracy))),
    }
    if problem.has_constant:
        return found
    return {
        "root feature": same_frequencies(first.root_feature, second.root_feature),
        "root place": ks_2samp(first.root_place, second.root_place).pvalue,
        "left child's place": ks_2samp(first.left_place, second.left_place).pvalue,
        "right child's place": ks_2samp(first.right_place, second.right_place).pvalue,
        "leaf labels": ks_2samp(first.first_class_share, second.first_class_share).pvalue,
        **found,
    }


def standard_errors(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the difference of two means in units of its standard error."""
    error = math.hypot(*(np.std(part, ddof=1) / math.sqrt(len(part)) for part in (one, other)))
    return float(np.mean(one) - np.mean(other)) / error


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--fits", type=int, default=300, help="of each; ten times for tiny tables")
    parser.add_argument("--epsilon", type=float, default=0.1)
    arguments = parser.parse_args()
    least = 1.0
    print("| records | compared | p-value |")
    print("| --- | --- | --- |")
    for problem in problems():
        n_fits = arguments.fits * (10 if problem.name.startswith("tiny") else 1)
        # The few records of a tiny table need more epsilon to matter at all.
        epsilon = arguments.epsilon * (10 if problem.name.startswith("tiny") else 1)
        one, other = (
            [fit(problem, epsilon, seed) for seed in range(n_fits)] for fit in (ours, theirs)
        )
        for name, p_value in compared(problem, one, other).items():
            print(f"| {problem.name} | {name} | {p_value:.2g} |", flush=True)
            least = min(least, p_value)
        scores = [[fit.accuracy for fit in fits] for fits in (one, other)]
        print(
            f"| {problem.name} | mean accuracy {np.mean(scores[0]):.4f} and "
            f"{np.mean(scores[1]):.4f}: {standard_errors(*scores):+.2f} standard errors | |"
        )
    same = least >= MIN_P
    print(f"\nLeast p-value {least:.2g}: {'the same law' if same else 'NOT the same law'}.")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
