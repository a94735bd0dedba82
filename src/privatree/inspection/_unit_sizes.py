"""Count the records of each unit, for the owner of the records. **This leaks.**"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree.inspection._id_names import describe_id_name
from privatree.tables import Column, read_unit_ids

MANY_IDS = 20
"""With fewer distinct values, a column that is called household is the size of one."""
MAX_ROWS = 50
"""Most records of an id, on average, of something that is a person rather than a shop."""


@dataclass(frozen=True)
class UnitSizes:
    """How many records a unit has; :class:`SchemaCheck` describes the fields."""

    column: str
    units: int
    typical: int
    largest: int


class UnitCounter:
    """Count the records of each id, batch by batch."""

    def __init__(self) -> None:
        self._records_of: dict[str, int] = {}
        self.n_without_id = 0

    @property
    def n_records(self) -> int:
        """Number of usable records that have an id."""
        return sum(self._records_of.values())

    def add(self, ids: Column, usable: NDArray[np.bool_] | None) -> None:
        """Count the records of a batch. `usable` tells which have a known label; None for all."""
        found = read_unit_ids(ids)
        has_id = found.places >= 0
        self.n_without_id += int(np.sum(~has_id))
        counted = has_id if usable is None else has_id & usable
        times: Any = np.bincount(found.places[counted], minlength=len(found.ids))
        for unit_id, n_records in zip(found.ids, times.tolist(), strict=True):
            if n_records:
                self._records_of[unit_id] = self._records_of.get(unit_id, 0) + n_records

    def may_be_units(self, column: str) -> bool:
        """Tell whether several records have the same id, as far as the column's name is of ids."""
        found, kind = self.sizes(column), describe_id_name(column)
        if found.largest < 2 or kind == "person's id":
            return found.largest > 1
        is_many = found.units >= MANY_IDS and self.n_records <= MAX_ROWS * found.units
        return is_many and (kind == "person" or found.typical > 1)

    def sizes(self, column: str) -> UnitSizes:
        """Return the number of units, the median of their numbers of records, and the largest."""
        numbers = np.array([*self._records_of.values()] or [0])
        typical = int(np.median(numbers))
        return UnitSizes(column, len(self._records_of), typical, int(numbers.max()))


def sounds_like_units(names: Iterable[str]) -> list[str]:
    """Return the names of columns that sound as if they said who a row is about."""
    return [name for name in names if describe_id_name(name) in ("person's id", "person", "id")]
