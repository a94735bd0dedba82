"""Made-up records: as many as asked for, with the public facts of a setting.

The bundled datasets are few, and some of them are easier than most real data. Here the class is
drawn at random, with odds that depend on a few of the features, as it is for most people.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from privatree.forecast._setting import Setting
from privatree.schema import Categorical, Numeric, Schema

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

N_TABLES = 24
_TESTED = 4_000
_STRENGTHS = (1.0, 2.0, 3.0)
_FEATURES = (6, 12, 20)
_LARGEST_SHARE = 0.85
_FADING = 0.5**0.5
"""How much less each feature matters than the one before it."""
_CATEGORICAL = 0.2
_PAIRS = 2
"""Number of pairs of features that matter together."""
_FIRST_FEATURES = 6
"""Pairs are drawn from so many features, which matter most."""


def made_up_records(table: int, setting: Setting, repeat: int) -> tuple[Any, Any, Any]:
    """Return training records and test records, each with labels, and the schema.

    The law that the records are drawn from depends on `table`. What is not known about it, the
    number of features and the share of the most frequent class, differs from table to table.
    """
    features = setting.features or _FEATURES[(table + table // 3) % len(_FEATURES)]
    share = setting.majority_share or _unknown_share(table, setting.classes)
    law = np.random.default_rng([setting.seed, table])
    draw = np.random.default_rng([setting.seed, table, repeat + 1])
    n_records = setting.records + _TESTED
    columns, kinds, effects = _draw_features(n_records, features, law, draw)
    scores = _draw_scores(effects, setting.classes, _STRENGTHS[table % len(_STRENGTHS)], law)
    frame, labels, schema = _as_table(columns, kinds, _draw_classes(scores, share, draw), setting)
    train, test = slice(0, setting.records), slice(setting.records, None)
    return (frame[train], labels[train]), (frame[test], labels[test]), schema


def _unknown_share(table: int, classes: int) -> float:
    equal = 1 / classes
    return equal + (_LARGEST_SHARE - equal) * (table // 3) / (N_TABLES // 3 - 1)


def _draw_features(
    n_records: int, n_features: int, law: np.random.Generator, draw: np.random.Generator
) -> tuple[list[NDArray[Any]], list[Numeric | Categorical], NDArray[np.float64]]:
    """Return the values of each feature, its kind, and its effect on each record.

    Effects have mean 0 and variance 1.
    """
    columns: list[NDArray[Any]] = []
    kinds: list[Numeric | Categorical] = []
    effects = np.empty((n_features, n_records))
    for place, is_categorical in enumerate(law.random(n_features) < _CATEGORICAL):
        if is_categorical:
            n_categories = int(law.integers(2, 9))
            shares = law.dirichlet(np.full(n_categories, 2.0))
            effect = law.normal(size=n_categories)
            effect -= shares @ effect
            codes = draw.choice(n_categories, n_records, p=shares)
            effects[place] = effect[codes] / np.sqrt(shares @ effect**2)
            categories = np.array([f"c{code}" for code in range(n_categories)])
            columns.append(categories[codes])
            kinds.append(Categorical(categories.tolist()))
            continue
        effects[place] = draw.normal(size=n_records)
        values, kind = _numbers(effects[place], int(law.integers(3)))
        columns.append(values)
        kinds.append(kind)
    return columns, kinds, effects


def _numbers(normal: NDArray[np.float64], form: int) -> tuple[NDArray[np.float64], Numeric]:
    """Return normal values as one of three kinds of numbers: plain, skewed or whole."""
    if form == 0:
        return np.clip(np.round(normal, 3), -4, 4), Numeric(-4, 4)
    if form == 1:
        return np.clip(np.round(np.exp(normal), 3), 0, 50), Numeric(0, 50)
    return np.clip(np.round(40 + 12 * normal), 0, 100), Numeric(0, 100)


def _draw_scores(
    effects: NDArray[np.float64], n_classes: int, strength: float, law: np.random.Generator
) -> NDArray[np.float64]:
    """Return the score of each class for each record, up to a constant for each class."""
    n_features = len(effects)
    fading = strength * _FADING ** np.arange(n_features)
    weights = fading[:, None] * law.normal(size=(n_features, n_classes))
    scores: NDArray[np.float64] = effects.T @ weights
    for _ in range(_PAIRS):
        one, other = law.integers(0, min(n_features, _FIRST_FEATURES), 2)
        both = effects[one] * effects[other]
        scores += 0.5 * strength * np.outer(both, law.normal(size=n_classes))
    return scores


def _draw_classes(
    scores: NDArray[np.float64], share: float, draw: np.random.Generator
) -> NDArray[np.int64]:
    """Draw the class of each record, with odds by its scores and the given share of class 0."""
    n_classes = scores.shape[1]
    wanted = np.array([share, *[(1 - share) / (n_classes - 1)] * (n_classes - 1)])
    constants = np.zeros(n_classes)
    for _ in range(50):  # more change nothing that can be seen
        shifted = scores + constants
        odds = np.exp(shifted - shifted.max(axis=1, keepdims=True))
        probabilities = odds / odds.sum(axis=1, keepdims=True)
        constants += np.log(wanted / probabilities.mean(axis=0))
    below = probabilities.cumsum(axis=1)[:, :-1] < draw.random(len(scores))[:, None]
    codes: NDArray[np.int64] = below.sum(axis=1)
    return codes


def _as_table(
    columns: list[NDArray[Any]],
    kinds: list[Numeric | Categorical],
    codes: NDArray[np.int64],
    setting: Setting,
) -> tuple[pd.DataFrame, NDArray[Any], Schema]:
    import pandas as pd

    names = [f"x{place}" for place in range(len(kinds))]
    frame = pd.DataFrame(dict(zip(names, columns, strict=True)))
    for name, kind in zip(names, kinds, strict=True):
        if isinstance(kind, Categorical):
            frame[name] = frame[name].astype(pd.CategoricalDtype(list(kind.categories)))
    classes = [f"class {code}" for code in range(setting.classes)]
    schema = Schema(dict(zip(names, kinds, strict=True)), classes)
    return frame, np.array(classes)[codes], schema
