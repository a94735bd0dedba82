"""The bundled datasets: those that are large enough, thinned to the number of records."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from privatree import datasets
from privatree.forecast._setting import Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TRAINED_PART = 0.8
"""Largest part of a dataset that is trained on. The rest is for the test."""
_MAX_TESTED = 10_000


def usable_datasets(setting: Setting) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the names of the datasets to train on, and why each of the others is left out."""
    usable, left_out = [], {}
    for name in datasets.names():
        if name in setting.without:
            left_out[name] = "as you asked"
            continue
        dataset = datasets.load(name)
        classes = len(dataset.schema.classes)
        n_kept = len(_kept_rows(dataset.labels, setting.majority_share))
        if classes != setting.classes:
            left_out[name] = f"it has {classes} classes"
        elif setting.records > _TRAINED_PART * n_kept:
            shared = "" if setting.majority_share is None else " with this share of the classes"
            left_out[name] = f"it has only {n_kept:,} records{shared}"
        else:
            usable.append(name)
    return tuple(usable), left_out


def bundled_records(name: str, setting: Setting, repeat: int) -> tuple[Any, Any, Any]:
    """Return training records and test records, each with labels, and the schema.

    Which records these are depends on the seed and on `repeat`.
    """
    frame, labels, schema = datasets.load(name)
    rng = np.random.default_rng([setting.seed, zlib.crc32(name.encode()), repeat])
    rows = _kept_rows(labels, setting.majority_share, rng)
    order = rng.permutation(rows)
    train, test = order[: setting.records], order[setting.records :][:_MAX_TESTED]
    return (frame.iloc[train], labels.iloc[train]), (frame.iloc[test], labels.iloc[test]), schema


def _kept_rows(
    labels: Any, share: float | None, rng: np.random.Generator | None = None
) -> NDArray[np.int64]:
    """Return as many rows as possible of which the most frequent class has this share.

    Rows of the class that is too frequent are left out at random.
    """
    if share is None:
        return np.arange(len(labels))
    is_majority = (labels == labels.mode()[0]).to_numpy()
    sides = [np.flatnonzero(is_majority), np.flatnonzero(~is_majority)]
    n_kept = int(min(len(sides[0]) / share, len(sides[1]) / (1 - share)))
    wanted = [round(share * n_kept), n_kept - round(share * n_kept)]
    kept = [
        rows[:n] if rng is None else rng.permutation(rows)[:n]
        for rows, n in zip(sides, wanted, strict=True)
    ]
    return np.concatenate(kept)
