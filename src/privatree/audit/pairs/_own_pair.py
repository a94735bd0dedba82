"""A pair of the user's own: two frames that differ in one record, or in all of one unit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from privatree._support.validation import check_same_length
from privatree.audit.pairs._neighbours import Neighbours, Records
from privatree.errors import ParameterError
from privatree.privacy import UnitWords
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
    """Make a pair from two frames, after checking that they are neighbours.

    Parameters
    ----------
    schema : Schema
        Schema of both frames. If it names a unit, the frames have its column last, and differ by
        all records of one unit.
    first, second : tuple of frame and labels, or targets
        The two datasets. The check ignores the order of rows. If the learner's epsilon is for one
        record added or removed, a replaced record counts as two changes, and the bound is half as
        large.
    name : str, default="own"
        Name of the pair in the report.
    max_depth : int, optional
        Depth of the trees; by default the learner's own.

    Raises
    ------
    ParameterError
        If the datasets do not differ by one record added, removed or replaced, or by all records
        of one unit added or removed.

    Examples
    --------
    >>> import pandas as pd
    >>> from privatree import Numeric, Schema
    >>> schema = Schema({"x": Numeric(0, 1)}, [0, 1])
    >>> frame = pd.DataFrame({"x": [0.1, 0.9, 0.5]})
    >>> own_pair(schema, (frame[:2], [0, 1]), (frame, [0, 1, 1])).sizes
    (2, 3)
    """
    tables = [Records(X, np.asarray(y)) for X, y in (first, second)]
    unit = schema.unit
    for table in tables:
        check_same_length(len(table.X), len(table.y))
        if list(getattr(table.X, "columns", ())) != [*schema.names, *([unit] if unit else ())]:
            raise ParameterError(
                "both datasets must be frames with the columns of the schema, in the order of the "
                f"schema{f', and the unit {unit!r} after them' if unit else ''}."
            )
    if unit is not None:
        words = UnitWords(unit)
        _check_one_unit_differs(tables, words, schema)
        after = f"whatever one {words.protected} of your own changes"
        return Neighbours(name, after, schema, tables[0], tables[1], max_depth=max_depth)
    of_first, of_second = (_count_own_records(table) for table in tables)
    only_first = (of_first - of_second).total()
    only_second = (of_second - of_first).total()
    if (only_first, only_second) not in ((0, 1), (1, 0), (1, 1)):
        raise ParameterError(
            "the datasets must differ by one record added, removed or replaced, but "
            f"{only_first} records are only in the first and {only_second} only in the second. "
            f"({_left_out_words(schema)})"
        )
    after = "whatever one record of your own changes"
    return Neighbours(name, after, schema, tables[0], tables[1], max_depth=max_depth)


def _check_one_unit_differs(tables: list[Records], words: UnitWords, schema: Schema) -> None:
    """Check that one dataset is the other without all records of one unit."""
    smaller, larger = sorted(map(_count_own_records, tables), key=Counter.total)
    units = {record[-2] for record in larger - smaller}  # the label is the last
    others = {record[-2] for record in smaller}
    if smaller - larger or len(units) != 1 or units & others:
        raise ParameterError(
            f"the datasets must differ by {words.whole}, added or removed. One of them must have "
            f"no record of this {words.protected}, and all records of all others. "
            f"({_left_out_words(schema)})"
        )


def _left_out_words(schema: Schema) -> str:
    label = "label is not in the schema" if schema.target is None else "target is no number"
    return f"Records whose {label} are not counted."


def _count_own_records(table: Records) -> Counter[tuple[Hashable, ...]]:
    """Return how often each record occurs. Missing values are equal, and 1 equals 1.0."""
    import pandas as pd

    columns = [table.X[name] for name in table.X.columns] + [pd.Series(table.y)]
    values = [column.astype(object).where(column.notna().to_numpy(), None) for column in columns]
    return Counter(zip(*values, strict=True))
