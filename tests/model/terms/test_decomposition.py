"""The terms of random ensembles, compared with slow exact ones, and with all tosses of signs."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_ensembles import random_ensemble, random_records
from slow_terms import grid_of, n_steps, slow_terms, used_places, with_signs

from privatree import PrivaBoostClassifier, datasets
from privatree.model.ensemble import Branch, Ensemble, Round, Step
from privatree.model.terms import Term, Terms, ensemble_terms
from privatree.schema import Categorical, Numeric, Schema
from privatree.tables import prediction_matrix

FEATURES = {
    "age": Numeric(17, 90, integer=True),
    "gain": Numeric(-1, 3, missing="separate"),
    "wide": Numeric(-1e6, 1e9, missing=12.5),
    "visits": Numeric(0, 4, integer=True, missing="separate"),
    "work": Categorical(["private", "state", "none"], missing="none"),
    "town": Categorical(["east", "west"], missing="separate"),
    "level": Categorical([1, 2.5, 7]),
}
CLASSES = [["low", "high"], ["a", "b", "c", "d", "e"]]
SEEDS = st.integers(0, 2**32 - 1)


def any_ensemble(rng: random.Random, features: dict[str, Any] | None = None, **given: Any) -> Any:
    """A random ensemble of normal step, in which some numbers have an interval."""
    schema = Schema(features or FEATURES, rng.choice(CLASSES))
    drawn = random_ensemble(rng, schema, **given)
    intervals = {}
    for place, feature in enumerate(schema.features.values()):
        if isinstance(feature, Numeric) and feature.low < feature.high and rng.random() < 0.4:
            shares = sorted(rng.sample([0.0, 0.25, 0.5, 0.75, 1.0], 2))
            length = feature.high - feature.low
            low, high = (float(feature.low + length * share) for share in shares)
            intervals[place] = (low, high)
    return Ensemble(schema, rng.choice([0.1, 0.3, 1.0]), drawn.rounds, intervals)


def frame_of(records: dict[str, list[Any]]) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(list(v), dtype=object) for name, v in records.items()})


def largest_difference(terms: Terms, frame: pd.DataFrame) -> float:
    """How far the sum of terms is from the score of the ensemble."""
    ensemble = terms.ensemble
    found = prediction_matrix(frame, ensemble.schema, ensemble.used_features)
    scores = ensemble.decision_function(*map(np.asarray, found))
    return float(np.abs(terms.decision_function(frame) - scores).max())


# --- the sum --------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(seed=SEEDS)
def test_terms_add_up_to_the_score(seed: int) -> None:
    """On values of all kinds, on both sides of every cut."""
    rng = random.Random(seed)
    ensemble = any_ensemble(rng)
    terms = ensemble_terms(ensemble)
    frame = frame_of(random_records(rng, ensemble, 200))
    assert largest_difference(terms, frame) < 1e-12


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(seed=SEEDS)
def test_deep_branches_and_features_that_repeat(seed: int) -> None:
    """A path of eight branches looks at two or three features, some of them again and again."""
    rng = random.Random(seed)
    names = rng.sample(sorted(FEATURES), rng.choice([2, 3]))
    features = {name: FEATURES[name] for name in names}
    ensemble = any_ensemble(rng, features, n_rounds=2, depth=rng.randint(4, 7))
    terms = ensemble_terms(ensemble)
    assert largest_difference(terms, frame_of(random_records(rng, ensemble, 300))) < 1e-12


TRAINED: dict[str, dict[str, Any]] = {
    "depth 1, weights": {"max_depth": 1, "max_sample_weight": 3},
    "depth 2": {"max_depth": 2},
    "depth 3": {"max_depth": 3},
    "depth 3, weights": {"max_depth": 3, "max_sample_weight": 3},
    "pure": {"delta": 0, "class_weight": "balanced"},
    "monotone": {"monotonic_cst": {"age": 1, "capital-gain": 1, "hours-per-week": -1}},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TRAINED)
def test_terms_of_trained_ensembles(name: str) -> None:
    frame, labels, schema = datasets.load("adult")
    frame, labels = frame[:4000], labels[:4000]
    rng = np.random.default_rng(3)
    model = PrivaBoostClassifier(3.0, schema=schema, random_state=1, **TRAINED[name])
    weights = rng.integers(1, 4, len(labels)).astype(float)
    model.fit(frame, labels, sample_weight=weights if "weights" in name else None)
    terms = model.terms()
    assert abs(terms.decision_function(frame) - model.decision_function(frame)).max() < 1e-12
    directed = set(TRAINED[name].get("monotonic_cst", ()))
    for term in terms:
        assert (term.band is None) == bool(directed & set(term.names))
        assert term.order <= model.max_depth
        check_is_pure(term)
    for feature in directed & {term.names[0] for term in terms if term.order == 1}:
        steps = np.diff(terms[feature].values) * TRAINED[name]["monotonic_cst"][feature]
        assert (steps >= 0).all()


# --- no other split -------------------------------------------------------------------------------


def check_is_pure(term: Term) -> None:
    assert term.measure.sum() == pytest.approx(1.0)
    for place, axis in enumerate(term.axes):
        assert axis.measure.min() >= 0
        means = np.tensordot(term.values, axis.measure, ([place], [0]))
        assert np.abs(means).max() < 1e-12


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(seed=SEEDS)
def test_terms_are_those_of_plain_python(seed: int) -> None:
    rng = random.Random(seed)
    names = rng.sample(sorted(FEATURES), 3)
    features = {name: FEATURES[name] for name in names}
    ensemble = any_ensemble(rng, features, n_rounds=rng.randint(1, 4), depth=rng.randint(1, 3))
    grid, exact = grid_of(ensemble), slow_terms(ensemble)
    terms = ensemble_terms(ensemble)
    assert np.allclose(terms.intercept, np.array(exact[()][()], float), rtol=0, atol=1e-13)
    cells = list(itertools.product(*(range(len(cells)) for cells in grid.values())))
    records: dict[str, list[Any]] = {name: [None] * len(cells) for name in ensemble.schema.features}
    for place, name in enumerate(grid):
        records[name] = [grid[name][cell[place]][0] for cell in cells]
    parts = terms.contributions(frame_of(records))
    shown = {term.names: number for number, term in enumerate(terms)}
    used = [list(ensemble.schema.features)[place] for place in used_places(ensemble)]
    for some, values in exact.items():
        if not some:
            continue
        expected = np.array(
            [
                [float(score) for score in values[tuple(cell[used.index(n)] for n in some)]]
                for cell in cells
            ]
        )
        if some not in shown:
            assert np.abs(expected).max() < 1e-14
            continue
        found = parts[:, shown[some]].reshape(len(cells), -1)
        assert np.abs(found - expected).max() < 1e-13


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(seed=SEEDS)
def test_terms_are_pure_and_orthogonal(seed: int) -> None:
    """The mean of the squared score is the sum of those of the terms."""
    rng = random.Random(seed)
    names = rng.sample(sorted(FEATURES), 3)
    ensemble = any_ensemble(rng, {name: FEATURES[name] for name in names}, depth=2)
    terms = ensemble_terms(ensemble)
    for term in terms:
        check_is_pure(term)
        assert {axis.name for axis in term.axes} <= set(names)
    grid = grid_of(ensemble)
    exact = slow_terms(ensemble)
    mean_square = Fraction(0)
    for some in itertools.product(*(range(len(cells)) for cells in grid.values())):
        weight = math.prod(grid[n][at][1] for n, at in zip(grid, some, strict=True))
        parts = [
            values[tuple(some[list(grid).index(name)] for name in names)]
            for names, values in exact.items()
        ]
        score = sum(part[0] for part in parts)
        mean_square += weight * score**2
    first = [term.values.reshape(*term.measure.shape, -1)[..., 0] for term in terms]
    squares = [
        float((values**2 * term.measure).sum()) for values, term in zip(first, terms, strict=True)
    ]
    assert sum(squares) + terms.intercept[0] ** 2 == pytest.approx(float(mean_square))


def test_a_product_by_hand() -> None:
    schema = Schema({"x": Numeric(0, 10), "y": Numeric(0, 10)}, ["no", "yes"])
    function = Branch(0, Step(1, 1, (5.0,)), Step(1, -1, (7.5,)), threshold=5.0)
    terms = ensemble_terms(Ensemble(schema, 2.0, (Round(function, (-1, 1)),)))
    # The mean of a function value is 0 for x <= 5, and -1/2 above.
    assert terms.intercept.tolist() == [-0.5]
    assert terms["x"].values.tolist() == [0.5, -0.5]
    assert terms["y"].axes[0].cuts.tolist() == [5.0, 7.5]
    assert terms["y"].values.tolist() == [0.5, -1.5, 0.5]
    assert terms["y", "x"].values.tolist() == [[1.5, -0.5, -2.5], [-1.5, 0.5, 2.5]]


# --- the band -------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(seed=SEEDS)
def test_the_band_is_two_standard_deviations_of_tossed_signs(seed: int) -> None:
    """By all tosses of the signs of all step functions."""
    rng = random.Random(seed)
    names = rng.sample(sorted(FEATURES), 2)
    features = {name: FEATURES[name] for name in names}
    ensemble = any_ensemble(rng, features, n_rounds=2, depth=2)
    n_tosses = [n_steps(one.function) for one in ensemble.rounds]
    sums: dict[Any, list[list[Fraction]]] = {}
    for signs in itertools.product((-1, 1), repeat=sum(n_tosses)):
        waiting = iter(signs)
        tossed = [(with_signs(one.function, waiting), one.amounts) for one in ensemble.rounds]
        for some, values in slow_terms(ensemble, tossed).items():
            for cell, scores in values.items():
                sums.setdefault((some, cell), []).append(list(scores))
    grid = grid_of(ensemble)
    for term in ensemble_terms(ensemble):
        for cell in itertools.product(*(range(len(grid[name])) for name in term.names)):
            found = np.array(sums[term.names, cell], dtype=float)
            effect = found if found.shape[1] == 1 else found - found.mean(1, keepdims=True)
            expected = 2 * np.sqrt((effect**2).mean(axis=0))
            record = {name: [None] for name in ensemble.schema.features}
            for name, at in zip(term.names, cell, strict=True):
                record[name] = [grid[name][at][0]]
            band = term.band[cells_of(term, frame_of(record), ensemble)]
            assert np.ravel(band) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def cells_of(term: Term, frame: pd.DataFrame, ensemble: Ensemble) -> tuple[int, ...]:
    """The cell of one record in a term."""
    matrix, columns = prediction_matrix(frame, ensemble.schema, ensemble.used_features)
    codes = ensemble.packed.codes(np.asarray(matrix), np.asarray(columns))
    places = list(ensemble.schema.features)
    return tuple(int(axis.cell_of_code[codes[places.index(axis.name), 0]]) for axis in term.axes)


@pytest.mark.slow
def test_many_tossed_functions_seldom_leave_the_band() -> None:
    """A hundred step functions with fair signs, 120 times: 4.6% of the values are outside."""
    rng = np.random.default_rng(0)
    schema = Schema({"x": Numeric(0, 100)}, ["no", "yes"])
    outside = []
    for _ in range(120):
        steps = [
            Step(0, int(rng.choice((-1, 1))), (float(rng.integers(1, 100)),)) for _ in range(100)
        ]
        rounds = tuple(Round(step, (-1, 1)) for step in steps)
        (term,) = ensemble_terms(Ensemble(schema, 0.1, rounds))
        outside.append(term.beyond_chance)
    assert 0.035 < np.mean(outside) < 0.058


@pytest.mark.slow
def test_tossed_functions_of_many_classes_seldom_leave_their_bands() -> None:
    """Of ten classes as of two: it is the mean over the classes, and not any of them."""
    rng = np.random.default_rng(0)
    schema = Schema({"x": Numeric(0, 100)}, list(range(10)))
    outside = []
    for _ in range(40):
        rounds = [
            Round(
                Step(0, int(rng.choice((-1, 1))), (float(rng.integers(1, 100)),)),
                tuple(rng.permutation([-1, 1] * 5).tolist()),
            )
            for _ in range(100)
        ]
        (term,) = ensemble_terms(Ensemble(schema, 0.1, tuple(rounds)))
        outside.append(term.beyond_chance)
    assert 0.035 < np.mean(outside) < 0.058


@pytest.mark.parametrize("step", [0.1, 1 / 3, 0.07, 0.019])
@pytest.mark.parametrize("n", [1, 3, 4, 5])
def test_a_few_equal_functions_are_chance(step: float, n: int) -> None:
    """Four reach the band exactly, and no rounding puts them outside; five are outside."""
    schema = Schema({"x": Numeric(0, 100)}, ["no", "yes"])
    one = Round(Step(0, 1, (100 / 3,)), (-1, 1))
    (term,) = ensemble_terms(Ensemble(schema, step, (one,) * n))
    assert term.beyond_chance == pytest.approx(1.0 if n == 5 else 0.0)


def test_a_band_of_many_classes_leaves_out_what_they_share() -> None:
    schema = Schema({"x": Numeric(0, 10)}, ["a", "b", "c", "d"])
    one = Round(Step(0, 1, (5.0,)), (1, -1, -1, -1))
    (term,) = ensemble_terms(Ensemble(schema, 1.0, (one,)))
    assert term.effect[0].tolist() == [0.75, -0.25, -0.25, -0.25]
    assert term.band[0].tolist() == [1.5, 0.5, 0.5, 0.5]
    assert term.beyond_chance == 0.0
    everybody = Round(Step(0, 1, (5.0,)), (1, 1, 1, 1))
    (term,) = ensemble_terms(Ensemble(schema, 1.0, (everybody,)))
    assert (term.strength, term.typical) == (0.0, 0.0)
    assert (term.band == 0).all()
