"""Whether the terms of ensembles add up to their scores, on a million records, and how fast.

    python benchmarks/terms.py [--records 1000000] [--seed 0]

There are trained ensembles (two and five classes, with and without weights, of one to three
features, monotone) and random ones (deep branches, features that repeat, branches on missing
values). The records are random as well: missing and infinite numbers, numbers out of range and on
the cut points, unknown categories. Printed is, for each ensemble, the time that its terms take and
the largest difference between the score and the sum of terms. It must be below 1e-12.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from accuracy import header, show
from privatree import Categorical, Numeric, PrivaBoostClassifier, Schema
from privatree.model.ensemble import Ensemble
from privatree.model.terms import ensemble_terms
from privatree.tables import prediction_matrix

sys.path.append(str(Path(__file__).parents[1] / "tests" / "export"))

from random_ensembles import random_ensemble

MOST = 1e-12
N_TRAINING = 10_000
FEATURES = {
    "age": Numeric(17, 90, integer=True),
    "gain": Numeric(-1, 3, missing="separate"),
    "wide": Numeric(-1e6, 1e9, missing=12.5),
    "visits": Numeric(0, 4, integer=True, missing="separate"),
    "work": Categorical(["private", "state", "none"], missing="none"),
    "town": Categorical(["east", "west"], missing="separate"),
}
FEW = {name: FEATURES[name] for name in ("gain", "visits", "town")}
TWO, FIVE = ["low", "high"], ["a", "b", "c", "d", "e"]
TRAINED: dict[str, tuple[list[str], dict[str, Any]]] = {
    "depth 1": (TWO, {"max_depth": 1}),
    "depth 2": (TWO, {"max_depth": 2}),
    "depth 3": (TWO, {"max_depth": 3}),
    "depth 3, weights": (TWO, {"max_depth": 3, "max_sample_weight": 3}),
    "monotone": (TWO, {"monotonic_cst": {"age": 1, "gain": -1}}),
    "five classes": (FIVE, {}),
    "five classes, depth 3, weights": (FIVE, {"max_depth": 3, "max_sample_weight": 3}),
}


def random_frame(rng: np.random.Generator, n: int, cuts: dict[str, list[float]]) -> pd.DataFrame:
    """Return random values of all kinds. `cuts` are numbers to hit exactly."""
    columns: dict[str, Any] = {}
    for name, feature in FEATURES.items():
        if isinstance(feature, Categorical):
            known = [*feature.categories, "unknown"]
            codes = rng.integers(-1, len(known), n)  # -1 is missing
            columns[name] = pd.Categorical.from_codes(codes, known)
            continue
        low, high = float(feature.low), float(feature.high)
        special = [np.nan, np.inf, -np.inf, low, high, low - 1, high + 1, *cuts.get(name, [])]
        values = rng.uniform(low, high, n)
        is_special = rng.random(n) < 0.4
        values[is_special] = rng.choice(special, is_special.sum())
        columns[name] = values
    return pd.DataFrame(columns)


def trained(name: str, seed: int) -> Ensemble:
    classes, settings = TRAINED[name]
    rng = np.random.default_rng(seed)
    frame = random_frame(rng, N_TRAINING, {})
    score = frame["age"].clip(17, 90).fillna(17) / 20 + 2 * (frame["town"] == "west")
    score = score + np.where(frame["gain"].isna(), 1.0, 0.0) + rng.normal(size=N_TRAINING)
    places = pd.qcut(score, len(classes), labels=False)
    weights = rng.uniform(0, 3, N_TRAINING) if "weights" in name else None
    learner = PrivaBoostClassifier(
        4.0, schema=Schema(FEATURES, classes), random_state=seed, **settings
    )
    learner.fit(frame, np.array(classes)[places], sample_weight=weights)
    return learner.ensemble_


def ensembles(seed: int) -> Iterator[tuple[str, Ensemble]]:
    for name in TRAINED:
        yield name, trained(name, seed)
    rng = random.Random(seed)
    for classes in (TWO, FIVE):
        for depth, features in ((3, FEATURES), (7, FEW)):
            drawn = random_ensemble(rng, Schema(features, classes), n_rounds=12, depth=depth)
            normal = Ensemble(drawn.schema, 0.3, drawn.rounds, {0: (0.0, 0.5)} if depth > 3 else {})
            yield f"random, {len(classes)} classes, up to {depth - 1} branches", normal


def largest_difference(ensemble: Ensemble, terms: Any, frame: pd.DataFrame) -> float:
    found = prediction_matrix(frame, ensemble.schema, ensemble.used_features)
    scores: NDArray[np.float64] = ensemble.decision_function(*map(np.asarray, found))
    return float(np.abs(terms.decision_function(frame) - scores).max())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=1_000_000, help="for all ensembles together")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    found = list(ensembles(arguments.seed))
    n_each = -(-arguments.records // len(found))
    rng = np.random.default_rng(arguments.seed)
    header("ensemble", "rounds", "terms", "milliseconds", "records", "largest difference")
    largest = 0.0
    for name, ensemble in found:
        ensemble_terms(ensemble)
        start = time.perf_counter()
        terms = ensemble_terms(ensemble)
        seconds = time.perf_counter() - start
        names = list(ensemble.schema.features)
        cuts = {names[place]: list(cuts) for place, cuts in ensemble.packed.cuts.items()}
        frame = random_frame(rng, n_each, cuts)[names]
        difference = largest_difference(ensemble, terms, frame)
        largest = max(largest, difference)
        cells = f"{1000 * seconds:.0f}", f"{n_each:,}", f"{difference:.1e}"
        show(name, f"{ensemble.n_rounds}", f"{len(terms)}", *cells)
    print(f"\n{n_each * len(found):,} records; the largest difference of all is {largest:.1e}.")
    if largest >= MOST:
        sys.exit(f"The terms do not add up to the score: it must be below {MOST:g}.")


if __name__ == "__main__":
    main()
