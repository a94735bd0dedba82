"""Ensembles that the tests of their page share."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from random_ensembles import random_ensemble

from privatree import PrivaBoostClassifier, PrivaBoostRegressor, datasets
from privatree.model import EnsembleModel, RegressionEnsembleModel
from privatree.privacy import PrivacyStatement
from privatree.schema import Categorical, Numeric, Schema, Target

FEATURES = {
    "size": Numeric(-2.5, 7.25, missing="separate"),
    "age": Numeric(0, 120, integer=True),
    "ward": Categorical(["surgery", "maternity", "other"], missing="other"),
    "town": Categorical(["east", "west"], missing="separate"),
}


@pytest.fixture(scope="session")
def adult_ensemble() -> EnsembleModel:
    frame, labels, schema = datasets.load("adult")
    learner = PrivaBoostClassifier(1.0, schema=schema, random_state=0)
    return learner.fit(frame, labels).model_


@pytest.fixture(scope="session")
def hours_ensemble() -> RegressionEnsembleModel:
    """It predicts a whole number."""
    frame, _, schema = datasets.load("adult")
    hours = frame.pop("hours-per-week")
    target = Target(0, 100, integer=True, name="hours-per-week")
    schema = Schema({name: schema.features[name] for name in frame}, target=target)
    return PrivaBoostRegressor(1.0, schema=schema, random_state=0).fit(frame, hours).model_


@pytest.fixture(scope="session")
def by_hand() -> Callable[..., EnsembleModel | RegressionEnsembleModel]:
    """A random ensemble, with whatever schema, or target, and statement is wanted."""

    def make(
        seed: int = 0,
        depth: int = 2,
        n_rounds: int = 40,
        classes: int = 2,
        schema: Schema | None = None,
        target: Target | None = None,
        **statement: object,
    ) -> EnsembleModel | RegressionEnsembleModel:
        labels = () if target is not None else ("low", "middle", "high", "top")[:classes]
        schema = schema or Schema(FEATURES, labels, target=target)
        ensemble = random_ensemble(random.Random(seed), schema, n_rounds, depth)
        given = {"learner": "by hand", "epsilon": 0.5, "delta": 1e-6, "public": ("the schema",)}
        privacy = PrivacyStatement(**(given | statement))  # type: ignore[arg-type]
        kind = EnsembleModel if schema.target is None else RegressionEnsembleModel
        return kind(schema, ensemble, privacy)

    return make


@pytest.fixture(scope="session")
def hostile_ensemble(by_hand: Callable[..., EnsembleModel], hostile: list[str]) -> EnsembleModel:
    """Every name and text tries to get out of the place where it is shown."""
    return by_hand(schema=Schema(_hostile_features(hostile), hostile), **_hostile_texts(hostile))


@pytest.fixture(scope="session")
def hostile_number_ensemble(
    by_hand: Callable[..., RegressionEnsembleModel], hostile: list[str]
) -> RegressionEnsembleModel:
    """The same for a number, and the name of its column tries it, too."""
    target = Target(0, 1e4, name=hostile[0], log=True)
    schema = Schema(_hostile_features(hostile), target=target)
    return by_hand(schema=schema, **_hostile_texts(hostile))


def _hostile_features(hostile: list[str]) -> dict[str, Numeric | Categorical]:
    return {name: Numeric(0, 1) for name in hostile} | {"kind": Categorical(hostile)}


def _hostile_texts(hostile: list[str]) -> dict[str, Any]:
    texts = {"public": tuple(hostile), "notes": tuple(hostile)}
    return texts | {"learner": hostile[0], "n_rounds": 30}
