"""What ``PrivaTreeClassifier.fit`` hands over to the learner, and what it releases beside the tree.

Exact enumeration begins at coded records. From there to raw rows it is enough that two tables that
differ in one row become coded records that differ in one, and that everything else is the same: the
candidates, the plan, the schema, the account, and all of the model but the tree.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import pytest
from sklearn.base import clone

from privatree.counting import BinnedRecords
from privatree.estimators import _privatree as estimators


class HandedOver(NamedTuple):
    """What went to the learner, and what came out."""

    records: Counter[tuple[int, ...]]
    """Codes and class."""
    public: dict[str, Any]
    """By name, in a form that can be compared."""


def handed_over(estimator: Any, X: Any, y: Any, *, count: bool = True) -> HandedOver:
    """Fit, but grow the tree of no records; `count` the records that there are, or do not."""
    found: list[HandedOver] = []
    real = estimators.grow_tree

    def grow(
        records: Any, cells: Any, plan: Any, schema: Any, ledger: Any, after_size: Any, counted: str
    ) -> Any:
        columns = [records._codes, records._labels]
        rows = np.column_stack(columns).tolist() if count else ()
        public = {
            "candidates": [
                None if part is None else np.asarray(part).tolist()
                for part in (*cells.cuts, cells.plain.base_measure, *cells.plain.groups)
            ],
            "plan": plan,
            "schema": schema,
            "counted": counted,
            "account": (ledger.remaining, list(ledger.spends())),
            "form of the records": (
                records.n_codes,
                records.n_classes,
                records._codes.dtype,
                records._labels.dtype,
            ),
        }
        found.append(HandedOver(Counter(map(tuple, rows)), public))
        none = BinnedRecords(
            records._codes[:0], records.n_codes, records._labels[:0], records.n_classes
        )
        return real(none, cells, plan, schema, ledger, after_size, counted)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(estimators, "grow_tree", grow)
        try:
            fitted = clone(estimator).fit(X, y)
        except Exception as error:
            return HandedOver(Counter(), {"error": f"{type(error).__name__}: {error}"})
    (handed,) = found
    handed.public["the model beside the tree"] = fitted.model_.to_dict()
    return handed


def differences(one: HandedOver, other: HandedOver, neighbours: str) -> list[str]:
    """What differs between two tables with one row added or removed, or replaced, and should not.

    Parameters
    ----------
    one, other : HandedOver
        Of the two tables.
    neighbours : {"add-remove", "replace"}
        How the tables differ. One record more here and one less there is a record replaced.
    """
    gone, come = (one.records - other.records).total(), (other.records - one.records).total()
    too_many = gone + come > 1 if neighbours == "add-remove" else max(gone, come) > 1
    found = ["records"] if too_many else []
    names = one.public.keys() | other.public.keys()
    return found + sorted(n for n in names if one.public.get(n) != other.public.get(n))
