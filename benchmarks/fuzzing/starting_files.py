"""Whole files of every kind, from which the mutated ones are made."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from privatree import (
    Categorical,
    Numeric,
    PaperPrivaTreeClassifier,
    PrivaBoostClassifier,
    PrivaTreeClassifier,
    Schema,
)
from privatree.baselines import BDPTClassifier, DPGDFClassifier, RandomTreeClassifier
from privatree.robustness import (
    AttackSuccessCertificate,
    accuracy_certificate,
    claimed_accuracy_certificate,
    prediction_certificates,
)

ROWS, SEED = 300, 7
FEATURES: dict[str, Numeric | Categorical] = {
    "age": Numeric(17, 90, integer=True),
    "hours per week": Numeric(0.0, 99.5, cuts=[10.0, 35.5, 40.0], missing=40.0),
    "größe": Categorical(["klein", "groß", '\t\n"'], missing="groß"),
    "flag": Categorical([True, False]),
    "code": Categorical([3, 1.5, -2]),
}
SCHEMA = Schema(FEATURES, ["no", "yes"])
APART = Schema(
    {
        "age": Numeric(17, 90, missing="separate"),
        "größe": Categorical(["klein", "groß"], missing="separate"),
    },
    ["no", "yes"],
)
THREE = Schema({"x": Numeric(-1.5, 1e9), "y": Numeric(0, 1)}, [0, 1, 2])
NUMBERS = Schema({f"f{n}": Numeric(0, 1) for n in range(4)}, [False, True])
WIDE = Schema({f"f{n}": Numeric(0, 1000) for n in range(4)}, [False, True])
"""Ranges that are far too wide for the records of `NUMBERS`, so that intervals are released."""


def _table(schema: Schema) -> tuple[pd.DataFrame, list[Any]]:
    rng = np.random.default_rng(SEED)
    columns: dict[str, Any] = {}
    for name, feature in schema.features.items():
        if isinstance(feature, Categorical):
            codes = rng.integers(0, len(feature.categories), ROWS)
            columns[name] = pd.Series([feature.categories[code] for code in codes], dtype=object)
        else:
            columns[name] = rng.uniform(feature.low, feature.high, ROWS)
    labels = [schema.classes[code] for code in rng.integers(0, len(schema.classes), ROWS)]
    return pd.DataFrame(columns), labels


def _learners() -> Iterator[tuple[str, Any, Schema]]:
    seed = {"random_state": SEED}
    yield "default", PrivaTreeClassifier(4.0, schema=SCHEMA, **seed), SCHEMA
    yield "numbers", PrivaTreeClassifier(1.0, schema=NUMBERS, **seed), NUMBERS
    shares = {"probability_share": 0.25, "max_depth": 3}
    yield "probabilities", PrivaTreeClassifier(9.0, schema=THREE, **shares, **seed), THREE
    robust = PrivaTreeClassifier(2.0, schema=SCHEMA, schedule="robust", **seed)
    yield "robust", robust, SCHEMA
    replace = PrivaTreeClassifier(0.5, schema=SCHEMA, neighbours="replace", **seed)
    yield "replace", replace, SCHEMA
    yield "deep", PrivaTreeClassifier(1000.0, schema=SCHEMA, max_depth=8, **seed), SCHEMA
    yield "paper", PaperPrivaTreeClassifier(1.0, schema=SCHEMA, **seed), SCHEMA
    yield "bdpt", BDPTClassifier(1.0, schema=NUMBERS, **seed), NUMBERS
    yield "dpgdf", DPGDFClassifier(1.0, schema=SCHEMA, **seed), SCHEMA
    yield "random", RandomTreeClassifier(1.0, schema=THREE, **seed), THREE
    yield "inferred", PrivaTreeClassifier(1.0, **seed), NUMBERS
    yield "ensemble", PrivaBoostClassifier(4.0, schema=APART, max_depth=3, rounds=6, **seed), APART
    yield "ensemble-three", PrivaBoostClassifier(9.0, schema=THREE, rounds=8, **seed), THREE
    pure = PrivaBoostClassifier(9.0, delta=0, schema=SCHEMA, neighbours="replace", **seed)
    yield "ensemble-pure", pure, SCHEMA
    signs = {"f0": 1, "f1": -1}
    wide = PrivaBoostClassifier(99.0, schema=WIDE, rounds=6, monotonic_cst=signs, **seed)
    yield "ensemble-wide", wide, NUMBERS


def write_models(folder: Path) -> None:
    for name, learner, schema in _learners():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some learners say that their claims do not hold
            learner.fit(*_table(schema)).save(folder / f"{name}.json")


def write_schemas(folder: Path) -> None:
    drafted = SCHEMA.all_unconfirmed()
    for name, schema in (
        ("mixed", SCHEMA),
        ("three", THREE),
        ("numbers", NUMBERS),
        ("drafted", drafted),
    ):
        schema.to_toml(folder / f"{name}.toml")
    (folder / "by-hand.toml").write_text(
        "# A schema as a person writes it.\n"
        'classes = ["<=50K", ">50K"]  # two\n\n'
        "[features]\n"
        "age = {kind = 'numeric', low = 17, high = 90, integer = true}\n"
        "[features.'home town']\n"
        'kind = "categorical"\n'
        'categories = [\n  "a",\n  "b", # the second\n]\n'
        'missing = """b"""\n',
        encoding="utf-8",
    )


def write_certificates(folder: Path) -> None:
    """Write certificates; the part of the file name before the dash names the class."""
    frame, labels = _table(NUMBERS)
    data = (frame, labels, frame[:50], labels[:50])
    usual: dict[str, Any] = {"poisoned": [0, 1, "1%"], "refits": 10}
    for schedule in ("accuracy", "robust"):
        learner = PrivaTreeClassifier(0.5, schema=NUMBERS, schedule=schedule, random_state=SEED)
        accuracy = accuracy_certificate(learner, *data, **usual)
        accuracy.save(folder / f"accuracy-{schedule}.json")
    success = AttackSuccessCertificate(
        accuracy.privacy, 0.01, 0.02, confidence=0.99, refits=10, n_train=300, n_test=50,
        poisoned=(1, 10),
    )  # fmt: skip
    success.save(folder / "success-robust.json")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        random = RandomTreeClassifier(0.5, schema=NUMBERS, random_state=SEED)
        paper = PaperPrivaTreeClassifier(0.5, schema=NUMBERS, random_state=SEED)
        claimed = claimed_accuracy_certificate(paper, *data, claimed_by="its authors", **usual)
    claimed.save(folder / "accuracy-claimed.json")
    found = prediction_certificates(random, frame, labels, frame[:12], refits=20)
    found.save(folder / "predictions-random.json")
