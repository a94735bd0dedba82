"""Nets of the running program.

- *fit*: two raw tables that differ in one row are handed over to the learner with something else
  that differs; the figure is the number of such things.
- *sampler*: the running learner does not draw trees by the exact law of the code without a mutant;
  the figure is chi-square over its limit.
- *black box*: training shows a larger epsilon than is claimed; the figure is their quotient.
- *files*: the same, with tables that are read from files.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from handing_over import differences, handed_over
from reports import Report, worst
from whole_trees import chi_square_ratio, grown, law_of

from privatree import Categorical, Numeric, PrivaTreeClassifier, Schema
from privatree.audit import Neighbours, Records, audit, file_pairs, known_pairs
from privatree.audit.pairs._file_readers import read_memory

# --- fit ------------------------------------------------------------------------------------------

_SCHEMA = Schema(
    {"size": Numeric(0, 10), "age": Numeric(0, 99, integer=True), "kind": Categorical(["a", "b"])},
    ["no", "yes"],
)
_ROWS = [[1.5, 30, "a"], [2.5, 40, "b"], [2.0, 35, "a"]]
_LABELS = ["no", "yes", "yes"]

ONE_MORE: dict[str, tuple[list[Any], str]] = {
    "a row like the others": ([2.0, 36, "a"], "no"),
    "an outlier": ([9.5, 99, "a"], "yes"),
    "an unknown label": ([2.0, 36, "a"], "maybe"),
    "nothing known": ([None, float("nan"), "z"], "no"),
}


def fit(*cases: str) -> Report:
    """Raw tables with one row more."""
    learner = PrivaTreeClassifier(schema=_SCHEMA, random_state=0)
    here = handed_over(learner, np.array(_ROWS, dtype=object), np.array(_LABELS))
    reports = []
    for case in cases or ONE_MORE:
        row, label = ONE_MORE[case]
        there = handed_over(
            learner, np.array([*_ROWS, row], dtype=object), np.array([*_LABELS, label])
        )
        found = differences(here, there, "add-remove")
        words = ", ".join(found) or "nothing but the record"
        reports.append(Report("fit", bool(found), len(found), case, f"differs: {words}"))
    return worst(reports)


# --- sampler --------------------------------------------------------------------------------------

LAWS = {name: law_of(name) for name in ("robust",)}
"""Of the code as it is: computed before there is any mutant."""


def sampler(*cases: str) -> Report:
    """Whole trees, siblings jointly."""
    reports = []
    for case in cases or LAWS:
        ratio = chi_square_ratio(grown(case), LAWS[case])
        reports.append(Report("sampler", ratio > 1, ratio, case, "trees do not have the exact law"))
    return worst(reports)


# --- black box ------------------------------------------------------------------------------------

_RUNS = 100


def _pure() -> Neighbours:
    """Two classes, one on each side of f0; one more record of class 1 on the side of class 0."""
    schema = Schema({"f0": Numeric(0, 1, integer=True), "f1": Numeric(0, 1, integer=True)}, [0, 1])
    X = np.column_stack([np.repeat([0, 1], 20), np.tile([0, 1], 20)])
    first, second = Records(X, X[:, 0]), Records(np.vstack([X, [0, 0]]), np.append(X[:, 0], 1))
    after = "stopping where all records have one class"
    return Neighbours("pure", after, schema, first, second, max_depth=2)


def _alike() -> Neighbours:
    """As many records of each class, all alike; one more decides which class has more."""
    schema = Schema({"x": Numeric(0, 1)}, [0, 1])
    first = Records(np.zeros((20, 1)), np.tile([0, 1], 10))
    second = Records(np.zeros((21, 1)), np.append(first.y, 1))
    return Neighbours("alike", "labels of the exact majority", schema, first, second, max_depth=1)


# name: tables, the learner. At a small epsilon a node is likely to be split, unless it may not.
BLACK_BOXES: dict[str, tuple[Neighbours, dict[str, Any]]] = {
    "pure": (
        _pure(),
        {"epsilon": 0.2, "schedule": "robust", "robust_levels": 2, "simplify": False},
    ),
    "alike": (_alike(), {}),
    "outlier": (known_pairs()["outlier"], {}),
    "size-threshold": (known_pairs()["size-threshold"], {}),
    "one-person": (known_pairs()["one-person"], {}),
}
FILES = file_pairs(read_memory)


def black_box(*cases: str) -> Report:
    """Training."""
    return worst([_audited("black box", *BLACK_BOXES[case]) for case in cases or BLACK_BOXES])


def files(*cases: str) -> Report:
    """Reading and training."""
    return worst([_audited("files", FILES[case], {}) for case in cases or FILES])


def _audited(net: str, pair: Neighbours, settings: dict[str, Any]) -> Report:
    learner = PrivaTreeClassifier(random_state=0, **settings)
    found = audit(learner, pair, runs=_RUNS, confidence=0.999)
    share = found.lower_bound / learner.epsilon
    return Report(net, found.refuted, share, pair.name, found.event)
