"""Terms as an object: names, order, what is left out, and ensembles at the ends."""

from __future__ import annotations

import itertools
import pickle
import time
from typing import Any

import numpy as np
import pandas as pd
import pytest

from privatree import PrivaBoostClassifier, datasets
from privatree.errors import ParameterError
from privatree.model import EnsembleModel
from privatree.model.ensemble import Branch, Ensemble, Round, RoundFunction, Step
from privatree.model.terms import Terms, _decomposition, ensemble_terms
from privatree.privacy import PrivacyStatement
from privatree.schema import Categorical, Numeric, Schema

SCHEMA = Schema(
    {
        "age": Numeric(0, 80, missing="separate"),
        "income": Numeric(0, 100),
        "town": Categorical(["east", "north", "south", "west"], missing="separate"),
        "unused": Numeric(0, 1),
        "alone": Categorical(["only"]),
    },
    ["no", "yes"],
)

STATEMENT = PrivacyStatement("by hand", epsilon=0.5)


def ensemble_of(*functions: RoundFunction, schema: Schema = SCHEMA) -> Ensemble:
    signs = (-1, 1) if len(schema.classes) == 2 else (1, -1, -1)
    return Ensemble(schema, 0.5, tuple(Round(function, signs) for function in functions))


FUNCTIONS = (
    Step(0, 1, (-np.inf, 40.0)),
    Branch(1, Step(2, positive=b"\1\1\0\0\1"), Step(0, -1, (20.0,)), threshold=25.0),
    Branch(2, Step(1, 1, (50.0,)), Step(1, -1, (90.0,)), goes_left=b"\0\0\0\1\1"),
    Step(1, -1, (75.0,)),
)


@pytest.fixture(scope="module")
def adult() -> tuple[Any, Any]:
    frame, labels, schema = datasets.load("adult")
    return PrivaBoostClassifier(1.0, schema=schema, random_state=0).fit(frame, labels), frame


# --- names and order ------------------------------------------------------------------------------


def test_terms_are_a_sequence_and_have_names() -> None:
    terms = ensemble_terms(ensemble_of(*FUNCTIONS))
    assert {term.names for term in terms} == {
        ("age",), ("income",), ("town",), ("age", "income"), ("income", "town"),
    }  # fmt: skip
    assert [term.strength for term in terms] == sorted((t.strength for t in terms), reverse=True)
    assert terms["age"].names == ("age",)
    assert terms["income", "age"] is terms["age", "income"]
    assert terms[-1] is list(terms)[-1]
    assert terms[:2] == terms.kept[:2]
    assert len(terms) == 5
    assert repr(terms["age"]).startswith("<Term: age, strength ")
    assert repr(terms).startswith("<Terms: 5 terms; the strongest: ")


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("inkome", "'inkome' is not a feature of the schema. Did you mean 'income'?"),
        (("age", "towm"), "Did you mean 'town'?"),
        ("xyz", "'xyz' is not a feature of the schema."),
        ((None,), "None is not a feature"),
        ("unused", "no term of 'unused': it would be 0"),
        (("age", "town"), "no term of 'age' and 'town': it would be 0"),
    ],
)
def test_a_term_that_is_not_there(key: Any, says: str) -> None:
    with pytest.raises(KeyError) as caught:
        ensemble_terms(ensemble_of(*FUNCTIONS))[key]
    assert says in caught.value.args[0]


def test_axes_say_what_a_cell_is() -> None:
    terms = ensemble_terms(ensemble_of(*FUNCTIONS))
    age = terms["age"].axes[0]
    assert (age.n_cells, age.has_missing_cell) == (4, True)
    assert age.cuts.tolist() == [-np.inf, 20.0, 40.0]
    assert age.edges.tolist() == [0.0, 20.0, 40.0, 80.0]
    assert age.measure.tolist() == pytest.approx([0.05, 0.2375, 0.2375, 0.475])
    town = terms["town"].axes[0]
    assert town.categories == (("east",), ("north",), ("south",), ("west",), (None,))
    pair = terms["income", "town"].axes[1]
    assert pair.categories == (("east", "north"), ("south",), ("west",), (None,))
    assert pair.measure.tolist() == pytest.approx([0.475, 0.2375, 0.2375, 0.05])
    with pytest.raises(ParameterError, match="town: categories have no edges"):
        _ = town.edges
    with pytest.raises(ParameterError, match="age: numbers have no categories"):
        _ = age.categories


@pytest.mark.slow
def test_a_term_cannot_be_changed(adult: Any) -> None:
    """It is computed once for a model."""
    model, _ = adult
    assert model.terms() is model.terms() is model.model_.terms()
    for array in (model.terms()[0].values, model.terms()[0].band, model.terms().intercept):
        with pytest.raises(ValueError, match="read-only"):
            array += 1.0
    assert "_terms" not in vars(pickle.loads(pickle.dumps(model.model_)))


# --- what is left out -----------------------------------------------------------------------------


@pytest.mark.slow
def test_weak_pairs_are_left_out(adult: Any) -> None:
    model, frame = adult
    every, few = model.terms(), model.terms(max_pairs=10)
    pairs = [term.names for term in every if term.order > 1]
    assert [term.names for term in few if term.order > 1] == pairs[:10]
    assert [term.names for term in few.left_out] == pairs[10:]
    assert [t.names for t in few if t.order == 1] == [t.names for t in every if t.order == 1]
    assert few.intercept.tolist() == every.intercept.tolist()
    change = few.decision_function(frame) - every.decision_function(frame)
    assert np.abs(change).max() <= few.largest_change
    assert 0 < few.typical_change < few.largest_change
    assert (every.typical_change, every.largest_change, every.left_out) == (0.0, 0.0, ())
    with pytest.raises(KeyError, match="max_pairs left it out"):
        few[pairs[-1]]
    assert [t.names for t in model.terms(max_pairs=np.int64(10))] == [t.names for t in few]
    assert not [term for term in model.terms(max_pairs=0) if term.order > 1]


def test_the_typical_change_is_the_root_of_the_mean_square() -> None:
    """Over a grid in which every value is as likely as the measure says."""
    features = {name: Numeric(0, 4) for name in "xyz"}
    for classes in (["no", "yes"], [0, 1, 2]):
        ensemble = ensemble_of(
            Branch(0, Step(1, 1, (1.0,)), Step(1, -1, (2.0,)), threshold=2.0),
            Branch(1, Step(2, 1, (3.0,)), Step(2, 1), threshold=1.0),
            Step(0, 1, (1.0,)),
            schema=Schema(features, classes),
        )
        places = np.stack(np.meshgrid(*3 * [np.arange(4) + 0.5]), axis=-1).reshape(-1, 3)
        grid = pd.DataFrame(places, columns=list("xyz"))
        every, few = ensemble_terms(ensemble), ensemble_terms(ensemble).with_pairs(0)
        change = every.decision_function(grid) - few.decision_function(grid)
        if len(classes) > 2:
            change -= change.mean(axis=1, keepdims=True)
        assert np.sqrt((change**2).mean()) == pytest.approx(few.typical_change)
        assert np.abs(change).max() <= few.largest_change + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [-1, 1.0, True, "3", [1], float("nan")])
def test_max_pairs_that_is_no_number_of_pairs(adult: Any, wrong: Any) -> None:
    model, _ = adult
    for made in (model, model.model_):
        with pytest.raises(ParameterError, match="max_pairs must be an integer") as caught:
            made.terms(max_pairs=wrong)
        assert caught.value.parameter == "max_pairs"


# --- contributions --------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [["no", "yes"], [0, 1, 2]])
@pytest.mark.parametrize("n_rows", [0, 1, 9_000])
def test_contributions_have_a_row_for_each_record(classes: Any, n_rows: int) -> None:
    """Also if there are more records than fit a tile."""
    schema = Schema(SCHEMA.features, classes)
    terms = ensemble_terms(ensemble_of(*FUNCTIONS, schema=schema))
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.uniform(-10, 90, n_rows),
            "income": rng.uniform(0, 100, n_rows),
            "town": rng.choice(["east", "west", "unknown"], n_rows),
            "unused": 0.0,
            "alone": "only",
        }
    )
    more = () if len(classes) == 2 else (3,)
    parts = terms.contributions(frame)
    assert parts.shape == (n_rows, 5, *more)
    scores = terms.decision_function(frame)
    assert scores == pytest.approx(
        parts.sum(axis=1) + (terms.intercept if more else terms.intercept[0])
    )
    shares = terms.shap_values(frame)
    assert shares.shape == (n_rows, 5, *more)
    assert shares.sum(axis=1) == pytest.approx(parts.sum(axis=1))
    assert (shares[:, 3:] == 0).all()


def test_shap_values_are_shapley_values() -> None:
    """By their definition: the mean over all orders of what a feature adds to the mean score."""
    terms = ensemble_terms(ensemble_of(*FUNCTIONS))
    record = pd.DataFrame(
        {"age": [np.nan], "income": [60.0], "town": ["west"], "unused": [0.0], "alone": ["only"]}
    )
    parts = {t.names: v for t, v in zip(terms, terms.contributions(record)[0], strict=True)}

    def mean_score(known: set[str]) -> float:
        return sum(value for names, value in parts.items() if set(names) <= known)

    features = ("age", "income", "town")
    orders = list(itertools.permutations(features))
    for place, name in enumerate(features):
        gains = []
        for order in orders:
            before = set(order[: order.index(name)])
            gains.append(mean_score(before | {name}) - mean_score(before))
        assert terms.shap_values(record)[0, place] == pytest.approx(np.mean(gains))


@pytest.mark.slow
def test_importances_are_shares_of_strengths(adult: Any) -> None:
    model, _ = adult
    found = model.feature_importances_
    assert found.shape == (14,)
    assert found.sum() == pytest.approx(1.0)
    assert model.model_.feature_importances_.tolist() == found.tolist()
    terms = ensemble_terms(ensemble_of(*FUNCTIONS))
    town = terms["town"].strength + terms["income", "town"].strength / 2
    share = town / sum(term.strength for term in terms)
    assert terms.feature_importances[2] == pytest.approx(share)


# --- ends -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "functions",
    [
        (Step(0, 1),),
        (Step(2, positive=b"\0\0\0\0\0"),),
        (Step(4, positive=b"\1"),),
        (Branch(0, Step(1, -1), Step(2, positive=b"\0\0\0\0\0"), threshold=30.0),),
        (Step(1, 1, (50.0,)), Step(1, -1, (50.0,))),
        (Branch(4, Step(1, 1), Step(1, 1, (3.0,)), goes_left=b"\1"),),
    ],
)
def test_ensembles_that_say_the_same_for_everybody(functions: Any) -> None:
    ensemble = ensemble_of(*functions)
    terms = ensemble_terms(ensemble).with_pairs(0)
    assert list(terms) == []
    assert (terms.typical_change, terms.largest_change) == (0.0, 0.0)
    assert terms.feature_importances.tolist() == [0.0] * 5
    frame = pd.DataFrame({"age": [1.0, np.nan], "income": [1.0, 99.0], "town": ["east", None],
                          "unused": [0.5, 0.5], "alone": ["only", "?"]})  # fmt: skip
    assert terms.decision_function(frame).tolist() == pytest.approx(2 * [terms.intercept[0]])
    assert terms.contributions(frame).shape == (2, 0)
    assert terms.shap_values(frame).shape == (2, 5)
    assert repr(terms) == "<Terms: 0 terms; the strongest: none>"


def test_a_path_that_no_record_takes_says_nothing() -> None:
    """Such as income up to 20 below income above 50."""
    inside = Branch(1, Step(0, 1, (5.0,)), Step(1, 1, (70.0,)), threshold=20.0)
    terms = ensemble_terms(ensemble_of(Branch(1, Step(1, -1), inside, threshold=50.0)))
    assert [term.names for term in terms] == [("income",)]


def test_the_same_ensemble_has_the_same_terms() -> None:
    ensemble = ensemble_of(*FUNCTIONS)
    one, other = ensemble_terms(ensemble), pickle.loads(pickle.dumps(ensemble_terms(ensemble)))
    assert other.ensemble == ensemble
    assert isinstance(other, Terms)
    for term, again in zip(one, other, strict=True):
        assert term.names == again.names
        assert term.values.tolist() == again.values.tolist()
        assert term.band.tolist() == again.band.tolist()
        assert term.strength == again.strength


@pytest.mark.parametrize("n", [4, 9])
def test_functions_of_too_many_features(n: int) -> None:
    schema = Schema({f"f{i}": Numeric(0, 1) for i in range(9)}, ["no", "yes"])
    function: RoundFunction = Step(0, 1, (0.5,))
    for feature in range(1, n):
        function = Branch(feature, function, Step(feature, 1), threshold=0.5)
    with pytest.raises(ParameterError, match=f"no more than 3 features.* got one .* at {n}"):
        ensemble_terms(ensemble_of(function, schema=schema))
    model = EnsembleModel(schema, ensemble_of(function, schema=schema), STATEMENT)
    assert not hasattr(model, "feature_importances_")
    assert not hasattr(PrivaBoostClassifier(), "feature_importances_")


# --- size -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_ten_thousand_rounds() -> None:
    rng = np.random.default_rng(0)
    schema = Schema({name: Numeric(0, 64) for name in "abcde"}, ["no", "yes"])

    def step() -> Step:
        return Step(int(rng.integers(5)), 1, (float(rng.integers(64)),))

    steps = [(step(), step(), float(rng.integers(64)), int(rng.integers(5))) for _ in range(10_000)]
    functions = [Branch(place, left, right, threshold=at) for left, right, at, place in steps]
    ensemble = ensemble_of(*functions, schema=schema)
    terms = ensemble_terms(ensemble)
    assert len(terms) == 15
    matrix = rng.uniform(0, 64, (1000, 5))
    scores = ensemble.decision_function(matrix, np.arange(5))
    found = terms.decision_function(pd.DataFrame(matrix, columns=list("abcde")))
    assert np.abs(found - scores).max() < 1e-10  # of scores of some hundred


def test_an_ensemble_that_is_too_large_is_refused_before_it_fills_the_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ensemble = ensemble_of(*FUNCTIONS * 100)
    real, made = _decomposition.ensemble_products, []

    def count(one: Ensemble) -> Any:
        for product in real(one):
            made.append(product)
            yield product

    monkeypatch.setattr(_decomposition, "ensemble_products", count)
    monkeypatch.setattr(_decomposition, "_MAX_VALUES", 5 * _decomposition._PATH_COST)
    with pytest.raises(ParameterError, match="too large to be shown as a sum of terms") as caught:
        ensemble_terms(ensemble)
    assert "Train one with fewer rounds" in str(caught.value)
    assert len(made) == 5


def test_too_many_cells_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    ensemble = ensemble_of(*FUNCTIONS)
    n_cells = sum(term.values.size for term in ensemble_terms(ensemble))
    monkeypatch.setattr(_decomposition, "_MAX_CELLS", n_cells)
    assert len(ensemble_terms(ensemble)) == 5
    monkeypatch.setattr(_decomposition, "_MAX_CELLS", n_cells - 1)
    with pytest.raises(ParameterError, match="too large"):
        ensemble_terms(ensemble)


def test_too_many_steps_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many paths times many cells would take for ever."""
    ensemble = ensemble_of(*FUNCTIONS)
    terms = ensemble_terms(ensemble)
    monkeypatch.setattr(_decomposition, "_MAX_STEPS", sum(term.values.size for term in terms))
    with pytest.raises(ParameterError, match="too large"):
        ensemble_terms(ensemble)


def test_a_fit_does_not_need_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_decomposition, "_MAX_CELLS", 0)
    frame, labels, schema = datasets.load("vote")
    model = PrivaBoostClassifier(1.0, schema=schema, random_state=0).fit(frame, labels)
    model.predict(frame)
    repr(model.model_)
    with pytest.raises(ParameterError, match="too large"):
        model.terms()


def test_terms_of_blocks_are_those_of_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    ensemble = ensemble_of(*FUNCTIONS)
    every = ensemble_terms(ensemble)
    monkeypatch.setattr(_decomposition, "_BLOCK_VALUES", 1)
    for term, again in zip(every, ensemble_terms(ensemble), strict=True):
        assert term.values == pytest.approx(again.values)
        assert term.band == pytest.approx(again.band)


@pytest.mark.slow
def test_terms_are_fast(adult: Any) -> None:
    """Well below a fifth of a second on any machine: time of the process, the best of five."""
    model, _ = adult
    seconds = []
    for _ in range(5):
        start = time.process_time()
        model.terms()
        seconds.append(time.process_time() - start)
    assert min(seconds) < 0.2
