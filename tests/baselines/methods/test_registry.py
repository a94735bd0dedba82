"""Every method is known by its id, stands at its place and trains on what it is given."""

import warnings
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd
import pytest

from privatree import Categorical, Numeric, Schema, Target
from privatree.baselines import methods
from privatree.baselines.methods import Method, Training
from privatree.baselines.methods._method import (
    CLAIMED,
    LEAKING,
    NO_PRIVACY,
    PRIVATE,
    encode_method_frame,
    encode_method_numbers,
)
from privatree.errors import ParameterError
from privatree.reproduction import datasets
from privatree.reproduction.running._tasks import CrossValidated, suppress_task_warnings

SCHEMA = Schema(
    {"size": Numeric(0, 9), "kind": Categorical(["c", "a", "b"]), "flag": Categorical(["x", "y"])},
    ["no", "yes"],
)
GROUPS = {
    "decision-tree": NO_PRIVACY,
    "dpa": NO_PRIVACY,
    "lightgbm": NO_PRIVACY,
    "bdpt": LEAKING,
    "privatree-star": LEAKING,
    "dpgdf": CLAIMED,
    "privatree-paper": CLAIMED,
    "diffprivlib-forest": CLAIMED,
    "dpdf": CLAIMED,
    "dpdf-forest": CLAIMED,
    "smooth-random": CLAIMED,
    "smooth-random-forest": CLAIMED,
    "rana-forest": CLAIMED,
    "diffprivlib-tree": PRIVATE,
    "random-tree": PRIVATE,
    "privatree": PRIVATE,
    "privatree-robust": PRIVATE,
    "privaboost": PRIVATE,
    "privaboost-pure": PRIVATE,
    "diffprivlib-logistic": PRIVATE,
    "dp-ebm": PRIVATE,
    "sulq-id3": PRIVATE,
    "private-rdt": PRIVATE,
    "private-rdt-forest": PRIVATE,
    "sulq-based-id3": PRIVATE,
    "diffpid3": PRIVATE,
    "diffp-c45": PRIVATE,
    "diffgen": PRIVATE,
    "dt-diff": PRIVATE,
    "dprf": PRIVATE,
    "dprfmv": PRIVATE,
    "dprfta": PRIVATE,
    "rana": PRIVATE,
    "adiffp": PRIVATE,
    "train-single-tree": PRIVATE,
}


def test_ids_groups_and_order() -> None:
    assert methods.names() == tuple(GROUPS)
    found = [methods.get(name) for name in methods.names()]
    assert {method.id: method.group for method in found} == GROUPS
    without_privacy = [method.id for method in found if not method.private]
    assert without_privacy == ["decision-tree", "dpa", "lightgbm"]
    with_delta = {method.id: method.delta for method in found if method.delta}
    assert with_delta == dict.fromkeys(("privaboost", "dp-ebm", "sulq-id3"), 1e-6)
    assert len({method.title for method in found}) == len(found)
    claimed = {method.id for method in found if method.claimed}
    assert claimed == {name for name, group in GROUPS.items() if group in (LEAKING, CLAIMED)}
    runs = [group for group, _ in groupby(method.group for method in found)]
    assert runs == [NO_PRIVACY, LEAKING, CLAIMED, PRIVATE]  # each is one heading of the tables
    stand_ins = {method.id: method.stands_in_for for method in found if method.stands_in_for}
    assert stand_ins == {"random-tree": "diffprivlib-tree"}
    surveyed = {method.id for method in found if method.surveyed}
    assert surveyed <= set(methods.survey()) <= set(GROUPS)
    others = {"bdpt", "dpgdf", "random-tree", "privatree-paper", "privatree"}
    assert set(methods.survey()) - surveyed == others


def test_only_other_people_s_libraries_are_extras() -> None:
    needed = {name: methods.get(name).requires for name in methods.names()}
    assert {name: library for name, library in needed.items() if library} == {
        "lightgbm": "lightgbm",
        "diffprivlib-forest": "diffprivlib",
        "diffprivlib-tree": "diffprivlib",
        "diffprivlib-logistic": "diffprivlib",
        "dp-ebm": "interpret",
    }


@pytest.mark.parametrize("dataset", ["vote", "breast-w"])
# A thousand trees on a few hundred records have one record each: the majority, and no more.
@pytest.mark.parametrize("name", [name for name in GROUPS if name != "dpa"])
def test_with_plenty_of_epsilon_it_beats_the_majority(name: str, dataset: str) -> None:
    method = methods.get(name)
    if method.missing is not None:
        pytest.skip(method.missing)
    described = datasets.describe(dataset)
    scores = [
        CrossValidated(dataset, name, 100.0 if method.private else None, 4, 0, fold).run()
        for fold in range(2)
    ]
    assert all(score.fit_seconds > 0 for score in scores)
    mean = np.mean([score.accuracy for score in scores])
    if method.applies_to(datasets.load(dataset).schema):
        assert mean > described.majority_share + 0.05
    else:  # without any column that it knows, all it has is the majority
        assert mean == pytest.approx(described.majority_share, abs=0.01)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("bdpt", {}),
        ("dpgdf", {}),
        ("random-tree", {}),
        ("privatree-star", {"quantiles": "exact", "n_bins": 10, "stop_when_pure": True}),
        ("privatree-paper", {"quantiles": "private", "n_bins": 10, "stop_when_pure": True}),
        ("privatree", {"dataset_size": "private", "neighbours": "add-remove", "n_bins": "auto"}),
        ("privatree-robust", {"dataset_size": "private", "schedule": "robust"}),
    ],
)
def test_our_classifiers_are_told_everything(name: str, expected: dict[str, Any]) -> None:
    parameters = methods.get(name).classifier(Training(SCHEMA, 0.25, 3, 17)).get_params()
    expected |= {"epsilon": 0.25, "max_depth": 3, "schema": SCHEMA, "random_state": 17}
    assert {key: parameters[key] for key in expected} == expected


@pytest.mark.parametrize(("name", "delta"), [("privaboost", 1e-6), ("privaboost-pure", 0)])
def test_ensembles_have_their_delta_and_at_most_two_features_a_function(name, delta) -> None:
    for depth in (1, 2, 4):
        parameters = methods.get(name).classifier(Training(SCHEMA, 0.25, depth, 17)).get_params()
        assert parameters["delta"] == delta == methods.get(name).delta
        assert (parameters["epsilon"], parameters["random_state"]) == (0.25, 17)
        assert parameters["max_depth"] == min(depth, 2)


@pytest.mark.parametrize("name", GROUPS)
def test_a_numeric_target_gets_the_regressor_of_the_same_kind(name: str) -> None:
    regressors = {
        "decision-tree": "DecisionTreeRegressor",
        "privatree": "PrivaTreeRegressor",
        "privatree-robust": "PrivaTreeRegressor",
        "privaboost": "PrivaBoostRegressor",
        "privaboost-pure": "PrivaBoostRegressor",
    }
    method, numbers = methods.get(name), Schema(SCHEMA.features, target=Target(0, 9))
    assert method.supports(SCHEMA)
    assert method.supports(numbers) == (name in regressors)
    if name not in regressors:
        return
    made = [method.learner(Training(schema, 0.25, 3, 17)) for schema in (SCHEMA, numbers)]
    assert type(made[0]) is type(method.classifier(Training(SCHEMA, 0.25, 3, 17)))
    assert type(made[1]).__name__ == regressors[name]
    kept, given = (learner.get_params() for learner in made)
    for parameter in ("epsilon", "delta", "max_depth", "schedule", "random_state"):
        assert given.get(parameter) == kept.get(parameter)
    assert given.get("schema", numbers) == numbers


@pytest.mark.parametrize("name", GROUPS)
def test_what_gives_probabilities_gives_more_than_labels(name: str) -> None:
    method = methods.get(name)
    if method.missing is not None:
        pytest.skip(method.missing)
    frame, labels, schema, *_ = datasets.load("breast-w")
    rows = method.encode(frame, schema)
    if not method.applies_to(schema):
        frame, labels, schema, *_ = datasets.load("vote")
        rows = method.encode(frame, schema)
    with suppress_task_warnings():
        classifier = method.classifier(Training(schema, 10.0, 4, 0)).fit(rows, labels)
    probabilities = np.asarray(classifier.predict_proba(rows))
    are_labels = bool(np.isin(probabilities, (0.0, 1.0)).all())
    assert are_labels == (not method.gives_probabilities)


def test_the_tree_without_privacy_is_told_depth_and_seed() -> None:
    parameters = methods.get("decision-tree").classifier(Training(SCHEMA, 0.25, 3, 17)).get_params()
    assert (parameters["max_depth"], parameters["random_state"]) == (3, 17)
    assert methods.get("decision-tree").encode is encode_method_numbers


def test_dpgdf_needs_a_category() -> None:
    numbers = Schema({"size": Numeric(0, 9)}, ["no", "yes"])
    several = Schema({"size": Numeric(0, 9)}, ["no", "yes", "perhaps"])
    refused = {
        schema: [name for name in methods.names() if not methods.get(name).applies_to(schema)]
        for schema in (SCHEMA, numbers, several)
    }
    split_categories = ["dpdf", "dpdf-forest", "sulq-id3", "diffpid3", "adiffp"]
    assert list(refused.values()) == [
        [],
        ["dpgdf", *split_categories],
        ["dpgdf", *split_categories[:2], "dp-ebm", *split_categories[2:]],
    ]


# --- coding -------------------------------------------------------------------------------------


def test_a_category_is_its_position_in_the_schema() -> None:
    frame = pd.DataFrame(
        {
            "flag": pd.Categorical(["y", "x", "y"]),
            "size": [3, 1, 2],
            "kind": pd.Categorical(["a", "b", "c"]),
        }
    )
    coded = encode_method_numbers(frame, SCHEMA)
    assert coded.dtype == np.float64
    assert coded.tolist() == [[3.0, 1.0, 1.0], [1.0, 2.0, 0.0], [2.0, 0.0, 1.0]]


def test_coding_does_not_depend_on_the_rows() -> None:
    frame, _, schema, *_ = datasets.load("adult")
    some = np.arange(0, 500, 7)
    few = frame.iloc[some].apply(
        lambda column: (
            column.cat.remove_unused_categories()
            if isinstance(column.dtype, pd.CategoricalDtype)
            else column
        )
    )
    np.testing.assert_array_equal(
        encode_method_numbers(few, schema), encode_method_numbers(frame, schema)[some]
    )
    assert encode_method_frame(frame, schema) is frame


# --- what is not here ---------------------------------------------------------------------------


def test_an_unknown_id_is_refused_with_a_hint() -> None:
    with pytest.raises(ParameterError, match=r"got 'privatre'\. Did you mean 'privatree'\?"):
        methods.get("privatre")
    with pytest.raises(ParameterError) as refused:
        methods.get("zzzzzz")
    assert str(refused.value) == f"method must be one of {', '.join(GROUPS)}, got 'zzzzzz'."


def test_a_missing_library_is_named() -> None:
    known = methods.get("bdpt")
    here = Method("mine", "mine", PRIVATE, known.classifier, requires="numpy")
    absent = Method("mine", "mine", PRIVATE, known.classifier, requires="no_such_library")
    assert known.missing is None
    assert here.missing is None
    assert absent.missing == "mine needs no_such_library"


def test_each_method_has_code_of_its_own() -> None:
    codes = {methods.get(name).code for name in methods.names()}
    assert len(codes) == len(methods.names())
    assert "BDPTClassifier" in methods.get("bdpt").code
    assert "def encode_method_numbers" in methods.get("dpa").code


def test_no_method_warns_in_an_experiment() -> None:
    frame, labels, schema, *_ = datasets.load("vote")
    for name in methods.names():
        method = methods.get(name)
        if method.missing is None:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                rows = method.encode(frame, schema)
                with suppress_task_warnings():
                    method.classifier(Training(schema, 1.0, 4, 0)).fit(rows, labels)
            assert [str(one.message) for one in caught] == []
