"""Models with strange names and values, and records for them, for several engines at once."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from databases import Databases
from random_ensembles import random_ensemble, random_records

from privatree.model import EnsembleModel, Model, RegressionModel, Tree, TreeBuilder
from privatree.privacy import PrivacyStatement
from privatree.schema import Categorical, Numeric, Schema

STATEMENT = PrivacyStatement("by hand & co. `<b>`", epsilon=0.5, public=("all | of \u202eit",))
NAMES = ['a"b', "it's", "x; DROP TABLE t; --", "order", "label", "ü\n", "back\\slash", "%s{}",
         " ", "probabilities", "privatree_value_0", "t.x", "*/ /*", "prediction",
         "Ж", "[x]", "&amp;"]  # fmt: skip
TEXTS = ["", " ", "'", '"', "a'; --", "NULL", "nan", "None", "Ä\t", "\\n", "`|<script>", "0",
         "TRUE", "a", "A", "ä", "𝔸", "*/", "&lt;"]  # fmt: skip
NUMBERS = [0, 1, -3, 2.5, 0.1, 1 / 3, 1e300, -2e-308, 5e-324, 7, 1e16]
CLASSES: list[list[Any]] = [["it's", 'say "no"', "", "`|"], [0, 1, 7], [True, False],
                            [0.1, 2, 1e17], [2**53 + 1, -(2**62)], ["yes", "no"],
                            ["a", "b", "c", "d", "e"]]  # fmt: skip
NUMERIC = [Numeric(0, 1), Numeric(-5.5, 7.25, missing=7.25), Numeric(0, 100, integer=True),
           Numeric(-1e300, 1e300, missing=1.0), Numeric(0, 1e-300), Numeric(-100, -1, missing=-1),
           Numeric(0, 2**60, integer=True), Numeric(-3, 3, missing="separate"),
           Numeric(0, 9, integer=True, missing="separate"),
           Numeric(-1e308, -1e300, missing="separate")]  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A model and records for it, as lists of Python values by the name of the column."""

    model: Model | RegressionModel | EnsembleModel
    records: dict[str, list[Any]]

    def frame(self) -> pd.DataFrame:
        return pd.DataFrame({k: pd.Series(v, dtype=object) for k, v in self.records.items()})

    def arrow(self) -> pa.Table:
        """In the types that a database would have."""
        arrays = [
            pa.array(self.records[name], type=_arrow_type(feature), from_pandas=False)
            for name, feature in self.model.schema_.features.items()
        ]
        return pa.table(dict(zip(self.records, arrays, strict=True)))

    def feeds(self) -> dict[str, np.ndarray[Any, Any]]:
        """For onnxruntime."""
        feeds = {}
        for name, feature in self.model.schema_.features.items():
            is_text = _arrow_type(feature) == pa.string()
            gap: Any = "no category" if is_text else math.nan
            values = [gap if value is None else value for value in self.records[name]]
            dtype = object if is_text else float
            feeds[name] = np.array(values, dtype=dtype).reshape(-1, 1)
        return feeds


def _arrow_type(feature: Numeric | Categorical) -> pa.DataType:
    if isinstance(feature, Categorical):
        kinds = {str: pa.string(), bool: pa.bool_()}
        return kinds.get(type(feature.categories[0]), pa.float64())
    return pa.float64()


def _strange_feature(rng: random.Random) -> Numeric | Categorical:
    if rng.random() < 0.45:
        return rng.choice(NUMERIC)
    pool: list[Any] = rng.choice([TEXTS, TEXTS, NUMBERS, [True, False]])
    categories = rng.sample(pool, rng.randint(1, min(6, len(pool))))
    return Categorical(categories, missing=rng.choice([None, "separate", *categories]))


def _threshold(rng: random.Random, feature: Numeric) -> float:
    if feature.separates_missing and rng.random() < 0.4:
        return -math.inf
    low, high = float(feature.low), float(feature.high)
    wanted = rng.choice([low, low + (high - low) * rng.choice([0.5, 0.1, 1 / 3, rng.random()])])
    return min(wanted, float(np.nextafter(high, -math.inf)))


def _strange_schema(rng: random.Random) -> Schema:
    names = rng.sample(NAMES, rng.randint(1, 5))
    return Schema({name: _strange_feature(rng) for name in names}, rng.choice(CLASSES))


def _strange_model(rng: random.Random) -> Model:
    schema = _strange_schema(rng)
    names, features, classes = schema.names, schema.features, schema.classes
    builder = TreeBuilder(schema)
    open_nodes, n_splits, noisy = [builder.root], rng.randint(0, 12), rng.random() < 0.5
    while open_nodes:
        node = open_nodes.pop(rng.randrange(len(open_nodes)))
        if n_splits == 0:
            weights = [rng.random() + 1e-3 for _ in classes]
            row = [weight / sum(weights) for weight in weights] if noisy else None
            builder.leaf(node, rng.randrange(len(classes)), row)
            continue
        n_splits -= 1
        position = rng.randrange(len(names))
        feature = features[names[position]]
        if isinstance(feature, Categorical):
            codes = [c for c in range(feature.n_codes) if rng.random() < 0.5]
            open_nodes += builder.split_categories(node, position, codes)
        else:
            open_nodes += builder.split_numeric(node, position, _threshold(rng, feature))
    tree = builder.build()
    return Model(tree.schema, tree, STATEMENT)


def _strange_values(rng: random.Random, tree: Tree, position: int, n_rows: int) -> list[Any]:
    feature = list(tree.schema.features.values())[position]
    values: list[Any] = [None]
    if isinstance(feature, Categorical):
        values += list(feature.categories) * 2
        if isinstance(feature.categories[0], str):
            values += ["unknown", "A ", "á"]
        elif not isinstance(feature.categories[0], bool):
            values += [math.nan, math.inf, 99.0, float(np.float32(0.1))]
    else:
        thresholds = tree.threshold[tree.feature == position].tolist()
        low, high = float(feature.low), float(feature.high)
        values += [math.nan, math.inf, -math.inf, low, high, low - 1, high + 1, 0.0, -0.0]
        values += [rng.uniform(low, high), *thresholds]
        values += [float(np.nextafter(t, way)) for t in thresholds for way in (-np.inf, np.inf)]
    return [rng.choice(values) for _ in range(n_rows)]


@pytest.fixture(scope="session")
def strange() -> Callable[[int], Case]:
    """Draws a model with strange names, and strange records for it."""

    def draw(seed: int) -> Case:
        rng = random.Random(seed)
        model = _strange_model(rng)
        records = {
            name: _strange_values(rng, model.tree_, position, 40)
            for position, name in enumerate(model.schema_.names)
        }
        return Case(model, records)

    return draw


@pytest.fixture(scope="session")
def strange_ensemble() -> Callable[[int], Case]:
    """Draws an ensemble with strange names, and strange records for it."""

    def draw(seed: int) -> Case:
        rng = random.Random(seed)
        ensemble = random_ensemble(rng, _strange_schema(rng))
        model = EnsembleModel(ensemble.schema, ensemble, STATEMENT)
        return Case(model, random_records(rng, ensemble, 40))

    return draw


@pytest.fixture(scope="session")
def strange_number(
    strange: Callable[[int], Case], number_tree: Callable[..., Tree]
) -> Callable[[int], Case]:
    """Draws a tree with strange names that predicts a number, and strange records for it."""

    def draw(seed: int) -> Case:
        case = strange(seed)
        tree = number_tree(case.model.tree_, random.Random(seed))
        return Case(RegressionModel(tree.schema, tree, STATEMENT), case.records)

    return draw


# --- databases ----------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def databases() -> Iterator[Databases]:
    """By name, a function that runs a query on an Arrow table, which it knows as `t`."""
    with ExitStack() as stack:
        yield Databases(stack)


@pytest.fixture(scope="session")
def by_hand() -> Callable[..., Model]:
    """Makes a model of one split: a feature and its threshold or the codes that go left."""

    def make(feature: Any, how: Any, name: str = "x", classes: Any = ("no", "yes")) -> Model:
        builder = TreeBuilder(Schema({name: feature}, classes))
        split = builder.split_numeric if isinstance(feature, Numeric) else builder.split_categories
        left, right = split(builder.root, 0, how)
        builder.leaf(left, 0)
        builder.leaf(right, 1)
        tree = builder.build()
        return Model(tree.schema, tree, STATEMENT)

    return make


@pytest.fixture(scope="session")
def chain() -> Callable[[int, bool], Model]:
    """Makes a model that is as deep as it has splits, to the left or to the right."""

    def make(n_splits: int, to_right: bool) -> Model:
        builder = TreeBuilder(Schema({"x": Numeric(0, n_splits + 1)}, [0, 1, 2]))
        node = builder.root
        for i in range(n_splits):
            cut = i + 0.5 if to_right else n_splits - i - 0.5
            left, right = builder.split_numeric(node, 0, cut)
            leaf, node = (left, right) if to_right else (right, left)
            builder.leaf(leaf, i % 3)
        builder.leaf(node, 2)
        tree = builder.build()
        return Model(tree.schema, tree, STATEMENT)

    return make


@pytest.fixture
def counted_tree() -> Tree:
    """A tree of two leaves with noisy counts, of which one has no support."""
    builder = TreeBuilder(Schema({"x": Numeric(0, 1)}, ["no", "yes"]))
    left, right = builder.split_numeric(builder.root, 0, 0.5)
    builder.leaf(left, 0, [0.75, 0.25], [1200, 34], 46)
    builder.leaf(right, 1, [0.25, 0.75], [-3, 40], 46)
    return builder.build()
