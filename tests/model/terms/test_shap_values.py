"""SHAP values are the Shapley values of the score, with means over the public measure."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from random_ensembles import random_ensemble
from slow_terms import grid_of, restrict, slow_means, subsets

from privatree import PrivaBoostClassifier, datasets
from privatree.model.ensemble import Ensemble
from privatree.model.terms import ensemble_terms
from privatree.schema import Categorical, Numeric, Schema

FEATURES = {
    "age": Numeric(0, 80, missing="separate"),
    "visits": Numeric(0, 6, integer=True),
    "income": Numeric(-1, 1e6),
    "town": Categorical(["east", "north", "west"], missing="separate"),
}
INTERVALS = {0: (20.0, 40.0), 2: (0.0, 1e4)}


def shapley_value(
    ensemble: Ensemble, cell: dict[str, int], feature: str, score: int, means: object
) -> Fraction:
    """The definition: what a feature adds to the mean score, over all sets that may be known."""
    names = tuple(cell)
    others = tuple(name for name in names if name != feature)
    total = Fraction(0)
    for known in subsets(others):
        weight = Fraction(
            math.factorial(len(known)) * math.factorial(len(others) - len(known)),
            math.factorial(len(names)),
        )
        more = tuple(name for name in names if name in known or name == feature)
        place = tuple(cell.values())
        with_it = means[more][restrict(place, names, more)][score]
        total += weight * (with_it - means[known][restrict(place, names, known)][score])
    return total


@pytest.mark.slow
@pytest.mark.parametrize("classes", [["no", "yes"], ["a", "b", "c", "d"]])
@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("seed", range(2))
def test_random_ensembles(seed: int, depth: int, classes: list[str]) -> None:
    rng = random.Random(seed)
    schema = Schema(FEATURES, classes)
    drawn = random_ensemble(rng, schema, n_rounds=4, depth=depth)
    ensemble = Ensemble(schema, 0.25, drawn.rounds, INTERVALS)
    terms, means, grid = ensemble_terms(ensemble), slow_means(ensemble), grid_of(ensemble)
    cells = [{name: rng.randrange(len(shares)) for name, shares in grid.items()} for _ in range(3)]
    records = pd.DataFrame(
        {
            name: pd.Series(
                [grid[name][cell[name]][0] if name in grid else None for cell in cells],
                dtype=object,
            )
            for name in FEATURES
        }
    )
    found = terms.shap_values(records).reshape(len(cells), len(FEATURES), -1)
    for row, cell in enumerate(cells):
        for place, name in enumerate(FEATURES):
            for score in range(found.shape[2]):
                expected = 0.0
                if name in cell:
                    expected = float(shapley_value(ensemble, cell, name, score, means))
                assert found[row, place, score] == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["breast-w", "vote"])
def test_they_add_up_to_the_score_less_the_intercept(name: str) -> None:
    frame, labels, schema = datasets.load(name)
    model = PrivaBoostClassifier(1.0, rounds=20, schema=schema, random_state=0)
    model.fit(frame[:2000], labels[:2000])
    terms = model.terms()
    sums = terms.shap_values(frame[:500]).sum(axis=1) + terms.intercept[0]
    np.testing.assert_allclose(sums, model.decision_function(frame[:500]), atol=1e-12)
