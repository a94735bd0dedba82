import json
import math

import numpy as np
import pandas as pd
import pytest

from privatree import (
    Categorical,
    Numeric,
    PrivaBoostClassifier,
    PrivaBoostRegressor,
    PrivaTreeClassifier,
    PrivaTreeRegressor,
    Schema,
    Target,
)
from privatree.baselines import RandomTreeClassifier
from privatree.errors import BudgetExceededError, ParameterError
from privatree.evaluation import PrivateScores, private_scores, score_plan
from privatree.evaluation._plan import step_middles
from privatree.evaluation._scores import N_STEPS
from privatree.model import Model, TreeBuilder, load
from privatree.privacy import Budget, PrivacyStatement
from privatree.sources import CsvSource, ParquetSource

N = 3000
HUGE = 10_000.0
"""Epsilon at which there is no noise to speak of."""


def made_up(seed=0, n=N):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "x": rng.uniform(0, 10, n),
            "kind": rng.choice(["a", "b"], n),
            "who": rng.integers(n, size=n),
        }
    )
    signal = frame["x"] + 3 * (frame["kind"] == "a")
    return frame, signal.to_numpy(), rng


FEATURES = {"x": Numeric(0, 10), "kind": Categorical(["a", "b"])}


@pytest.fixture(scope="module")
def classes():
    frame, signal, rng = made_up()
    y = np.where(signal + rng.normal(0, 2, N) > 7, "yes", "no")
    return frame, y, Schema(FEATURES, ["no", "yes"])


@pytest.fixture(scope="module")
def numbers():
    frame, signal, rng = made_up(1)
    return frame, signal * 4 + rng.normal(0, 3, N), Schema(FEATURES, target=Target(0, 60, name="y"))


@pytest.fixture(scope="module")
def tree(classes):
    frame, y, schema = classes
    return PrivaTreeClassifier(2, max_depth=3, schema=schema, random_state=0).fit(frame, y)


def exact_metrics(model, frame, y):
    predicted, shares = model.predict(frame), model.predict_proba(frame)
    place = np.array([list(model.classes_).index(label) for label in y])
    return {
        "accuracy": np.mean(predicted == y),
        "balanced accuracy": np.mean([np.mean(predicted[y == c] == c) for c in model.classes_]),
        "Brier score": np.sum((shares - np.eye(len(model.classes_))[place]) ** 2, axis=1).mean()
        / (2 if len(model.classes_) == 2 else 1),
        "log loss": -np.log(np.clip(shares[np.arange(len(y)), place], 0.001, 1)).mean(),
    }


def rank_area(scores, is_class):
    above = scores[is_class][:, None] - scores[~is_class]
    return np.mean((above > 0) + 0.5 * (above == 0))


def test_without_noise_the_scores_of_a_tree_are_the_exact_ones(classes, tree):
    frame, y, _ = classes
    scores = private_scores(tree, frame, y, epsilon=HUGE, random_state=0)
    for name, value in exact_metrics(tree, frame, y).items():
        assert scores[name].value == pytest.approx(value)
    area = rank_area(tree.predict_proba(frame)[:, 1], y == "yes")
    assert scores["AUC"].value == pytest.approx(area)
    predicted = tree.predict(frame)
    for label in ("no", "yes"):
        assert scores["recall", label].value == pytest.approx(
            np.mean(predicted[y == label] == label)
        )
        assert scores["precision", label].value == pytest.approx(
            np.mean(y[predicted == label] == label)
        )
    table = [[np.sum((y == t) & (predicted == p)) for p in ("no", "yes")] for t in ("no", "yes")]
    assert scores.confusion == tuple(tuple(map(float, row)) for row in table)
    assert scores.noisy_size == N
    assert not scores.is_rounded
    shares = tree.predict_proba(frame)[:, 1]
    assert sum(point.noisy_size for point in scores.calibration[0][1]) == N
    assert scores.calibration[0][1][0].predicted >= shares.min()


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
def test_without_noise_the_scores_of_an_ensemble_are_nearly_the_exact_ones(n_classes):
    frame, signal, rng = made_up(2)
    labels = np.array(["a", "b", "c"])[:n_classes]
    y = labels[np.digitize(signal + rng.normal(0, 1, N), [5, 9][: n_classes - 1])]
    schema = Schema(FEATURES, labels.tolist())
    model = PrivaBoostClassifier(5, rounds=30, schema=schema, random_state=0).fit(frame, y)
    scores = private_scores(model, frame, y, epsilon=HUGE, random_state=0)
    exact = exact_metrics(model, frame, y)
    shares = model.predict_proba(frame)
    asked = [1] if n_classes == 2 else range(n_classes)
    exact["AUC"] = np.mean([rank_area(shares[:, k], y == labels[k]) for k in asked])
    assert scores["accuracy"].value == pytest.approx(exact["accuracy"])
    for name in ("AUC", "Brier score"):
        assert scores[name].value == pytest.approx(exact[name], abs=0.02)
    assert scores["log loss"].value == pytest.approx(exact["log loss"], abs=0.04)
    assert len(scores.calibration) == len(asked)
    assert "rounded to 16 steps" in str(scores)
    assert PrivateScores.from_dict(scores.to_dict()) == scores


@pytest.mark.slow
@pytest.mark.parametrize("learner", [PrivaTreeRegressor, PrivaBoostRegressor])
@pytest.mark.parametrize("high", [60, 600])
def test_without_noise_the_scores_of_a_number_are_nearly_the_exact_ones(numbers, learner, high):
    frame, y, _ = numbers
    schema = Schema(FEATURES, target=Target(0, high))
    model = learner(5, schema=schema, random_state=0).fit(frame, y)
    error = model.predict(frame) - y.clip(0, high)
    scores = private_scores(model, frame, y, epsilon=HUGE, random_state=0)
    assert scores["mean absolute error"].value == pytest.approx(np.abs(error).mean(), rel=0.005)
    assert scores["root mean squared error"].value == pytest.approx(
        np.sqrt(np.mean(error**2)), rel=0.005
    )
    assert scores["R²"].value == pytest.approx(model.score(frame, y.clip(0, high)), abs=0.01)
    for score in scores:
        assert score.low <= score.value <= score.high


def test_a_record_without_a_label_or_target_is_left_out(classes, tree, numbers):
    frame, y, _ = classes
    strange = np.array([*y[:100], "unknown", None], dtype=object)
    some = frame.iloc[:102]
    plain = private_scores(tree, frame.iloc[:100], y[:100], epsilon=1, random_state=0)
    assert private_scores(tree, some, strange, epsilon=1, random_state=0) == plain
    frame, y, schema = numbers
    model = PrivaTreeRegressor(1, schema=schema, random_state=0).fit(frame, y)
    strange = np.array([*y[:100], math.nan])
    plain = private_scores(model, frame.iloc[:100], y[:100], epsilon=1, random_state=0)
    assert private_scores(model, frame.iloc[:101], strange, epsilon=1, random_state=0) == plain


@pytest.mark.parametrize("n", [0, 1])
def test_no_records_are_scored_without_an_error_or_a_warning(classes, tree, n):
    frame, y, _ = classes
    scores = private_scores(tree, frame.iloc[:n], y[:n], epsilon=1, random_state=0)
    assert scores["accuracy"].value is None
    assert (scores["accuracy"].low, scores["accuracy"].high) == (0, 1)
    assert "hidden by noise" in str(scores)


def test_a_unit_weighs_as_much_as_a_record(classes, tree):
    frame, y, _ = classes
    once = private_scores(tree, frame, y, epsilon=HUGE, random_state=0)
    four = np.repeat(np.arange(N), 4)
    scores = private_scores(
        tree, frame.iloc[four], y[four], units=four, epsilon=HUGE, random_state=0
    )
    assert scores.noisy_size == N
    assert scores.unit == "unit"
    assert scores["accuracy"].value == pytest.approx(once["accuracy"].value)
    assert "units" in str(scores)


def test_a_sample_weight_counts(classes, tree):
    frame, y, _ = classes
    weights = np.where(y == "yes", 4.0, 2.0)
    scores = private_scores(
        tree, frame, y, sample_weight=weights, max_sample_weight=4, epsilon=HUGE, random_state=0
    )
    assert scores.noisy_size == pytest.approx(weights.sum() / 4)
    right = tree.predict(frame) == y
    assert scores["accuracy"].value == pytest.approx(np.average(right, weights=weights))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_source_gives_the_scores_of_a_frame(classes, tree, kind, tmp_path):
    frame, y, _ = classes
    path, whole = tmp_path / f"data.{kind}", frame.assign(label=y)
    whole.to_csv(path, index=False) if kind == "csv" else whole.to_parquet(path)
    source = (CsvSource if kind == "csv" else ParquetSource)(path, target="label")
    of_frame = private_scores(tree, frame, y, epsilon=1, random_state=0)
    assert private_scores(tree, source, epsilon=1, random_state=0) == of_frame
    source = type(source)(path, target="label", unit="who")
    scores = private_scores(tree, source, epsilon=1, random_state=0)
    assert scores.unit == "who"
    assert (
        scores.scores
        == private_scores(tree, frame, y, units=frame["who"], epsilon=1, random_state=0).scores
    )


def test_scores_rest_on_what_reading_the_records_rests_on(classes, tree, tmp_path):
    frame, y, _ = classes
    path = tmp_path / "records.csv"
    frame.assign(label=y).to_csv(path, index=False)
    source = CsvSource(path, target="label", multiline=True)
    scores = private_scores(tree, source, epsilon=1, random_state=0)
    assert len(scores.assumptions) == 1
    assert "The guarantee rests on this: " in " ".join(str(scores).split())
    assert PrivateScores.from_dict(json.loads(scores.to_json())) == scores


def test_a_released_model_a_file_and_a_baseline_have_scores(classes, tree, tmp_path):
    frame, y, schema = classes
    tree.save(tmp_path / "model.json")
    of_learner = private_scores(tree, frame, y, epsilon=1, random_state=0)
    loaded = load(tmp_path / "model.json")
    assert private_scores(loaded, frame, y, epsilon=1, random_state=0) == of_learner
    other = RandomTreeClassifier(1, schema=schema, random_state=0).fit(frame, y)
    assert private_scores(other, frame, y, epsilon=1)["accuracy"].low >= 0


def test_the_budget_is_charged_for_the_unit_before_any_noise(classes, tree):
    frame, y, _ = classes
    budget = Budget(1.0, unit="unit")
    private_scores(tree, frame, y, units=frame["who"], epsilon=0.4, budget=budget)
    assert float(budget.remaining) == 0.6
    assert budget.charges[0].purpose == "private_scores"
    with pytest.raises(BudgetExceededError, match="Nothing was drawn"):
        private_scores(tree, frame, y, units=frame["who"], epsilon=0.7, budget=budget)
    with pytest.raises(ParameterError, match="unit"):
        private_scores(tree, frame, y, epsilon=0.1, budget=budget)
    assert len(budget.charges) == 1


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_the_spends_add_up_to_epsilon(classes, tree, numbers, neighbours):
    frame, y, _ = classes
    scores = private_scores(tree, frame, y, epsilon=0.4, neighbours=neighbours)
    factor = 2 if neighbours == "replace" else 1
    assert factor * sum(float(spend.epsilon) for spend in scores.spends) == pytest.approx(0.4)
    assert scores.epsilon == 0.4
    frame, y, schema = numbers
    model = PrivaTreeRegressor(1, schema=schema, random_state=0).fit(frame, y)
    scores = private_scores(model, frame, y, epsilon=0.4, neighbours=neighbours)
    assert factor * sum(float(spend.epsilon) for spend in scores.spends) == pytest.approx(0.4)
    assert len(scores.spends) == 4


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"epsilon": 0}, "epsilon must be > 0"),
        ({"epsilon": 1, "y": None}, "y must have"),
        ({"epsilon": 1, "neighbours": "both"}, "neighbours must be"),
        ({"epsilon": 1, "budget": 3}, "budget must be"),
        ({"epsilon": 1, "max_sample_weight": 0}, "max_sample_weight must"),
        ({"epsilon": 1, "units": [1]}, "units must have the same number"),
        ({"epsilon": 1e-8, "units": np.arange(N)}, "epsilon must be at least about 1.9e-06 for"),
    ],
)
def test_a_mistake_is_an_error_that_costs_nothing(classes, tree, given, message):
    frame, y, _ = classes
    with pytest.raises(ParameterError, match=message):
        private_scores(tree, **({"X": frame, "y": y} | given))


def test_scores_are_saved_and_loaded(classes, tree, tmp_path):
    frame, y, _ = classes
    scores = private_scores(tree, frame, y, epsilon=0.3, units=frame["who"])
    scores.save(tmp_path / "scores.json")
    loaded = PrivateScores.load(tmp_path / "scores.json")
    assert loaded == scores
    assert str(loaded) == str(scores)
    assert json.loads(scores.to_json()) == scores.to_dict()


def staircase(labels, shares):
    """A tree with a leaf for each of the values 0, 1, ... of its only feature."""
    schema = Schema({"x": Numeric(0, len(labels))}, list(range(shares.shape[1])))
    builder, leaves = TreeBuilder(schema), [0]
    while len(leaves) < len(labels):  # breadth first, so that it is not too deep
        leaves = [child for leaf in leaves for child in halved(builder, leaf, leaves, len(labels))]
    for leaf, label, row in zip(leaves, labels, shares, strict=True):
        builder.leaf(leaf, label, row.tolist())
    return Model(schema, builder.build(), PrivacyStatement("by hand", 1.0))


def halved(builder, leaf, leaves, n):
    width = n / len(leaves)
    middle = (leaves.index(leaf) + 0.5) * width - 0.5
    return builder.split_numeric(leaf, 0, middle)


@pytest.mark.parametrize(("n_classes", "n_leaves"), [(2, 64), (3, 256)])
def test_a_tree_of_very_many_leaves_is_scored_by_intervals_of_probabilities(n_classes, n_leaves):
    rng = np.random.default_rng(n_classes)
    shares = rng.dirichlet(np.ones(n_classes), n_leaves)
    labels = np.where(rng.random(n_leaves) < 0.8, shares.argmax(axis=1), 0)
    model = staircase(labels, shares)
    plan = score_plan(model)
    most = {2: 32, 3: 128}[n_classes]
    assert sum(np.prod(shape) for shape in plan.shapes) <= 2 * n_classes * most
    x = rng.integers(n_leaves, size=4000)
    y = np.array([rng.choice(n_classes, p=shares[leaf]) for leaf in x])
    scores = private_scores(model, x[:, None], y, epsilon=HUGE, random_state=0)
    assert scores["accuracy"].value == pytest.approx(np.mean(labels[x] == y))
    exact = exact_metrics(model, x[:, None], y)
    assert scores["Brier score"].value == pytest.approx(exact["Brier score"], abs=0.01)
    assert scores.is_rounded
    assert len(step_middles()) == N_STEPS


def test_a_class_that_is_never_predicted_has_no_precision_and_the_recall_0():
    model = staircase(np.array([0, 0]), np.array([[0.9, 0.1], [0.6, 0.4]]))
    scores = private_scores(model, [[0], [1]] * 200, [0, 1] * 200, epsilon=1, random_state=0)
    never = scores["recall", 1]
    assert (never.value, never.low, never.high) == (0, 0, 0)
    with pytest.raises(KeyError):
        scores["precision", 1]


def test_a_model_without_probabilities_has_no_scores_of_them():
    schema = Schema({"x": Numeric(0, 2)}, ["no", "yes"])
    builder = TreeBuilder(schema)
    for label, leaf in enumerate(builder.split_numeric(0, 0, 0.5)):
        builder.leaf(leaf, label)
    model = Model(schema, builder.build(), PrivacyStatement("by hand", 1.0))
    scores = private_scores(model, [[0], [1]] * 200, ["no", "yes"] * 200, epsilon=1)
    names = {score.name for score in scores}
    assert names == {"accuracy", "balanced accuracy", "recall", "precision"}
    assert scores.calibration == ()
    assert [spend.epsilon for spend in scores.spends] == [1]


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_the_smallest_epsilons_can_be_drawn(classes, tree, numbers, neighbours):
    frame, y, _ = classes
    given = {"neighbours": neighbours, "random_state": 0}
    private_scores(tree, frame, y, epsilon=1e-9, **given)
    private_scores(tree, frame, y, units=frame["who"], epsilon=1e-5, **given)
    frame, y, schema = numbers
    model = PrivaTreeRegressor(1, max_depth=2, schema=schema, random_state=0).fit(frame, y)
    private_scores(model, frame, y, epsilon=1e-9, **given)
    scores = private_scores(model, frame, y, units=frame["who"], epsilon=1e-5, **given)
    assert scores["R²"].value is None
