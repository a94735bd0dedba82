"""Ensembles that the tests of their page share."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from random_ensembles import random_ensemble

from privatree import PrivaBoostClassifier, datasets
from privatree.model import EnsembleModel
from privatree.privacy import PrivacyStatement
from privatree.schema import Categorical, Numeric, Schema

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
def by_hand() -> Callable[..., EnsembleModel]:
    """A random ensemble, with whatever schema and statement is wanted."""

    def make(
        seed: int = 0,
        depth: int = 2,
        n_rounds: int = 40,
        classes: int = 2,
        schema: Schema | None = None,
        **statement: object,
    ) -> EnsembleModel:
        schema = schema or Schema(FEATURES, ["low", "middle", "high", "top"][:classes])
        ensemble = random_ensemble(random.Random(seed), schema, n_rounds, depth)
        given = {"learner": "by hand", "epsilon": 0.5, "delta": 1e-6, "public": ("the schema",)}
        privacy = PrivacyStatement(**(given | statement))  # type: ignore[arg-type]
        return EnsembleModel(schema, ensemble, privacy)

    return make


@pytest.fixture(scope="session")
def hostile_ensemble(by_hand: Callable[..., EnsembleModel], hostile: list[str]) -> EnsembleModel:
    """Every name and text tries to get out of the place where it is shown."""
    features = {name: Numeric(0, 1) for name in hostile} | {"kind": Categorical(hostile)}
    texts = {"learner": hostile[0], "public": tuple(hostile), "notes": tuple(hostile)}
    return by_hand(schema=Schema(features, hostile), n_rounds=30, **texts)
