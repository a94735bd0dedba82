"""A pair of tables of one's own: two frames that differ in one record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from privatree._support.validation import check_same_length
from privatree.audit.pairs._neighbours import Neighbours, Records
from privatree.errors import ParameterError
from privatree.schema import Schema

if TYPE_CHECKING:
    import pandas as pd


def own_pair(
    schema: Schema,
    first: tuple[pd.DataFrame, Any],
    second: tuple[pd.DataFrame, Any],
    *,
    name: str = "own",
    max_depth: int | None = None,
) -> Neighbours:
    """Two tables of one's own, checked to be neighbours.

    Parameters
    ----------
    schema : Schema
        What is public about both.
    first, second : tuple of frame and labels
        The tables. The order of rows matters only to a learner to which it should not. If a
        record is replaced, that is two changes to a learner whose epsilon is for one added or
        removed, and its bound is half of what it would be otherwise.
    name : str, default="own"
        How the report calls the pair.
    max_depth : int, optional
        Depth of the trees; by default the learner's own.

    Returns
    -------
    Neighbours
        For :func:`privatree.audit.audit`.

    Raises
    ------
    ParameterError
        If the tables do not differ by one record added, removed or replaced.
    """
    tables = [Records(X, np.asarray(y)) for X, y in (first, second)]
    for table in tables:
        check_same_length(len(table.X), len(table.y))
        if list(getattr(table.X, "columns", ())) != list(schema.names):
            raise ParameterError(
                "both tables must be frames with the columns of the schema, in its order."
            )
    of_first, of_second = (_multiset(table) for table in tables)
    only_first = (of_first - of_second).total()
    only_second = (of_second - of_first).total()
    if (only_first, only_second) not in ((0, 1), (1, 0), (1, 1)):
        raise ParameterError(
            "the tables must differ by one record added, removed or replaced: "
            f"{only_first} records are in the first only, and {only_second} in the second, as the "
            "schema reads them, without those whose label it does not know."
        )
    after = "whatever one record of your own changes"
    return Neighbours(name, after, schema, tables[0], tables[1], max_depth=max_depth)


def _multiset(table: Records) -> Counter[tuple[Hashable, ...]]:
    """Each different record, how often. A missing value equals another, and 1 equals 1.0."""
    import pandas as pd

    columns = [table.X[name] for name in table.X.columns] + [pd.Series(table.y)]
    values = [column.astype(object).where(column.notna().to_numpy(), None) for column in columns]
    return Counter(zip(*values, strict=True))
