"""Random ensembles, records for them, and a walk through an ensemble in plain Python."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np

from privatree.model.ensemble import Branch, Ensemble, Round, RoundFunction, Step, nodes_of
from privatree.schema import Categorical, Feature, Numeric, Schema


def random_ensemble(
    rng: random.Random, schema: Schema, n_rounds: int | None = None, depth: int | None = None
) -> Ensemble:
    """Up to 12 rounds, of which some are constant, and depths from 1 to 3."""
    n_classes, depth = len(schema.classes), depth or rng.randint(1, 3)
    rounds = []
    for _ in range(rng.randint(1, 12) if n_rounds is None else n_rounds):
        signs = (-1, 1) if n_classes == 2 else tuple(rng.choice((-1, 1)) for _ in range(n_classes))
        signs = signs or (rng.choice([1, 1023, 2**20, rng.randint(1, 2**24)]),)
        rounds.append(Round(_function(rng, list(schema.features.values()), depth), signs))
    if schema.target is not None:
        low, width = schema.target.coded_range
        start = low + width * rng.random()
        return Ensemble(schema, width / 2**26, tuple(rounds), start=start)
    return Ensemble(schema, rng.choice([0.1, 0.5, 1 / 3, 60.0]), tuple(rounds))


def _function(rng: random.Random, features: list[Feature], depth: int) -> RoundFunction:
    position = rng.randrange(len(features))
    feature = features[position]
    if depth > 1 and rng.random() < 0.7:
        left, right = (_function(rng, features, depth - 1) for _ in range(2))
        if isinstance(feature, Categorical):
            return Branch(position, left, right, goes_left=_mask(rng, feature))
        (threshold,) = _numbers(rng, feature, 1) or (float(feature.low),)
        return Branch(position, left, right, threshold=threshold)
    if isinstance(feature, Categorical):
        return Step(position, positive=_mask(rng, feature))
    switches = _numbers(rng, feature, rng.randint(0, 6))
    return Step(position, first=rng.choice((-1, 1)), switches=switches)


def _mask(rng: random.Random, feature: Categorical) -> bytes:
    return bytes(rng.randrange(2) for _ in range(feature.n_codes))


def _numbers(rng: random.Random, feature: Numeric, n: int) -> tuple[float, ...]:
    """Different numbers in the range, maybe with minus infinity, which stands for missing."""
    low, high = float(feature.low), float(feature.high)
    shares = [0.0, 0.1, 0.25, 1 / 3, 0.5, rng.random(), rng.random()]
    found = {min(low + (high - low) * share, float(np.nextafter(high, -math.inf)))
             for share in shares}  # fmt: skip
    found |= {-math.inf} if feature.separates_missing else set()
    pool = sorted(number for number in found if number == -math.inf or low <= number < high)
    return tuple(sorted(rng.sample(pool, min(n, len(pool)))))


def random_records(rng: random.Random, ensemble: Ensemble, n_rows: int) -> dict[str, list[Any]]:
    """Values of all kinds for each column: missing, unknown, infinite, on both sides of cuts."""
    cuts: dict[int, set[float]] = {}
    for one in ensemble.rounds:
        for node in nodes_of(one.function):
            numbers = node.switches if isinstance(node, Step) else (node.threshold,)
            found = cuts.setdefault(node.feature, set())
            found.update(x for x in numbers if x is not None and math.isfinite(x))
    records = {}
    for position, (name, feature) in enumerate(ensemble.schema.features.items()):
        pool = _pool(feature, sorted(cuts.get(position, ())))
        records[name] = [rng.choice(pool) for _ in range(n_rows)]
    return records


def _pool(feature: Feature, cuts: list[float]) -> list[Any]:
    values: list[Any] = [None]
    if isinstance(feature, Categorical):
        values += list(feature.categories) * 2
        if isinstance(feature.categories[0], str):
            values += ["unknown", "A ", "á"]
        elif not isinstance(feature.categories[0], bool):
            values += [math.nan, math.inf, 99.0, float(np.float32(0.1))]
        return values
    low, high = float(feature.low), float(feature.high)
    values += [math.nan, math.inf, -math.inf, low, high, low - 1, high + 1, 0.0, -0.0, *cuts]
    return values + [float(np.nextafter(c, way)) for c in cuts for way in (-np.inf, np.inf)]


# --- the same, by hand ----------------------------------------------------------------------------


def walked_label(ensemble: Ensemble, record: list[Any]) -> Any:
    """The label of a record, with nothing but comparisons of Python."""
    classes = ensemble.schema.classes
    margins = [0] * len(classes)
    for one in ensemble.rounds:
        value = walked_sign(one.function, ensemble.schema, record)
        margins = [m + sign * value for m, sign in zip(margins, one.amounts, strict=True)]
    return classes[margins.index(max(margins))]


def walked_number(ensemble: Ensemble, record: list[Any]) -> float:
    """The predicted number of a record, with nothing but the arithmetic of Python."""
    schema, target = ensemble.schema, ensemble.schema.target
    rounds = ensemble.rounds
    margin = sum(one.amounts[0] * walked_sign(one.function, schema, record) for one in rounds)
    score = ensemble.start + ensemble.step * margin
    assert target is not None
    return min(max(math.expm1(score) if target.log else score, target.low), target.high)


def walked_sign(function: RoundFunction, schema: Schema, record: list[Any]) -> int:
    """The value of a function for a record, which has a value for each feature."""
    feature = list(schema.features.values())[function.feature]
    value = record[function.feature]
    if isinstance(feature, Categorical):
        known = [
            c for c, one in enumerate(feature.categories) if value is not None and one == value
        ]
        code = known[0] if known else feature.missing_place
        if isinstance(function, Step):
            return 1 if (function.positive or b"")[code] else -1
        goes_left = bool((function.goes_left or b"")[code])
    else:
        is_missing = value is None or math.isnan(value)
        number = feature.missing_place if is_missing else max(float(value), float(feature.low))
        if isinstance(function, Step):
            return function.first * (-1) ** sum(number > switch for switch in function.switches)
        goes_left = number <= (function.threshold if function.threshold is not None else math.nan)
    return walked_sign(function.left if goes_left else function.right, schema, record)
