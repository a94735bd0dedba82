"""What a forecast is for: facts that are public before any record is read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from privatree import datasets
from privatree._support.suggestions import did_you_mean
from privatree._support.validation import check_integer, check_number, check_one_of, is_integer
from privatree.errors import ParameterError

_MIN_RECORDS, _MAX_RECORDS = 100, 100_000
_MIN_EPSILON, _MAX_EPSILON = 1e-6, 1000.0
_MAX_EPSILONS = 20
_MAX_CLASSES, _MIN_FEATURES, _MAX_FEATURES = 20, 2, 200
_RECORDS_OF_CLASS = 20
"""Least number of records for each class, if all classes are equally frequent."""
_MAX_SEED = 2**32 - 1


@dataclass(frozen=True)
class Setting:
    """The public facts and options that decide a forecast.

    Parameters
    ----------
    records : int
        Number of training records, 100 to 100,000.
    epsilons : tuple of float
        Privacy budgets, in increasing order.
    classes : int
        Number of classes, 2 to 20.
    features : int or None
        Number of features, 2 to 200. None means from 6 to 20.
    majority_share : float or None
        Share of the most frequent class. None means from equal classes to 0.85.
    model : {"tree", "boost"}
        Learner.
    without : tuple of str
        Bundled datasets that are not used, in alphabetical order.
    seed : int
        Seed of all random choices, so that everybody gets the same forecast.

    Examples
    --------
    >>> from privatree.forecast import Setting
    >>> Setting(8000, (0.05, 0.5)).classes
    2
    """

    records: int
    epsilons: tuple[float, ...]
    classes: int = 2
    features: int | None = None
    majority_share: float | None = None
    model: str = "tree"
    without: tuple[str, ...] = ()
    seed: int = 0


def checked_setting(
    records: Any,
    epsilons: Any,
    *,
    classes: Any,
    features: Any,
    majority_share: Any,
    model: Any,
    without: Any,
    seed: Any,
) -> Setting:
    """Return the setting of a forecast. Raise a ParameterError if something in it is wrong."""
    if not is_integer(records) or records < _MIN_RECORDS:
        raise ParameterError(
            f"records must be an integer of at least {_MIN_RECORDS}, got {records!r}.", "records"
        )
    if records > _MAX_RECORDS:
        raise ParameterError(
            f"records must be at most {_MAX_RECORDS}, got {records}. For a rough guide, ask for "
            f"{_MAX_RECORDS} records with an epsilon that is larger in proportion.",
            "records",
        )
    check_integer("classes", classes, 2, _MAX_CLASSES)
    if records < _RECORDS_OF_CLASS * classes:
        raise ParameterError(
            f"records must be at least {_RECORDS_OF_CLASS} for each of {classes} classes, "
            f"got {records}.",
            "records",
        )
    if features is not None:
        check_integer("features", features, _MIN_FEATURES, _MAX_FEATURES)
    check_one_of("model", model, ("tree", "boost"))
    check_integer("seed", seed, 0, _MAX_SEED)
    return Setting(
        records=int(records),
        epsilons=_checked_epsilons(epsilons),
        classes=int(classes),
        features=None if features is None else int(features),
        majority_share=_checked_share(majority_share, int(classes)),
        model=model,
        without=_checked_names(without),
        seed=int(seed),
    )


def _checked_epsilons(epsilons: Any) -> tuple[float, ...]:
    given = tuple(epsilons) if isinstance(epsilons, (Sequence, np.ndarray)) else (epsilons,)
    if isinstance(epsilons, str) or not 0 < len(given) <= _MAX_EPSILONS:
        raise ParameterError(
            f"epsilon must be a number or a list of 1 to {_MAX_EPSILONS} numbers, "
            f"got {epsilons!r}.",
            "epsilon",
        )
    for epsilon in given:
        check_number(
            "epsilon",
            epsilon,
            lambda epsilon: _MIN_EPSILON <= epsilon <= _MAX_EPSILON,
            f"be a number from {_MIN_EPSILON:g} to {_MAX_EPSILON:g}",
        )
    return tuple(sorted({float(epsilon) for epsilon in given}))


def _checked_share(share: Any, classes: int) -> float | None:
    if share is None:
        return None
    least = math.floor(100 / classes) / 100  # 0.33 is a share of the largest of three classes
    check_number(
        "majority_share",
        share,
        lambda share: least <= share <= 0.99,
        f"be from {least:g} (equal classes) to 0.99",
    )
    return max(float(share), 1 / classes)


def _checked_names(without: Any) -> tuple[str, ...]:
    given = tuple(without) if isinstance(without, (list, tuple)) else (without,)
    known = datasets.names()
    for name in given:
        if name not in known:
            raise ParameterError(
                f"without must have names of bundled datasets ({', '.join(known)}), got {name!r}."
                f"{did_you_mean(str(name), known)}",
                "without",
            )
    return tuple(sorted(set(given)))
