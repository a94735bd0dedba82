"""The tables of a budget file, and what their rows say. Charges are only ever added.

SQLite has no checksums. So each row has a digest of itself and of all rows before it: a damaged row
is noticed, and is not read as a smaller charge. The digests protect from accidents, not from a
person who changes the file on purpose.

There are three versions of the tables. A new budget gets the first that can hold it, so that as
many older versions of privatree as possible can charge it: version 1 for single records, version 2
with a unit, version 3 with a delta. All of them stay readable for ever. To change the tables, add a
version; older versions of privatree refuse a number that they do not know.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from privatree.errors import ParameterError
from privatree.privacy._budget import NEIGHBOURS, Charge
from privatree.privacy._budget_checks import budget_text, check_budget_unit

VERSION, UNIT_VERSION, DELTA_VERSION = 1, 2, 3
"""Versions of a file for single records, for units, and for either of them with a delta."""
MAX_EPSILON = 10**9
"""Largest epsilon of a budget or a charge. More gives no privacy."""
_MAX_AMOUNT_LENGTH = 1000
"""Largest number of characters of an amount. Python refuses to parse very long integers."""

_DEFINITIONS = re.split(
    r";\n(?=CREATE)",
    """CREATE TABLE account (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    dataset TEXT NOT NULL,
    epsilon TEXT NOT NULL,
    neighbours TEXT NOT NULL,
    created TEXT NOT NULL,
    digest TEXT NOT NULL
);
CREATE TABLE charge (
    number INTEGER PRIMARY KEY,
    time TEXT NOT NULL,
    purpose TEXT NOT NULL,
    epsilon TEXT NOT NULL,
    note TEXT NOT NULL,
    digest TEXT NOT NULL
);
CREATE TRIGGER one_account BEFORE INSERT ON account WHEN EXISTS (SELECT 1 FROM account)
BEGIN SELECT RAISE(ABORT, 'there is one account'); END;
CREATE TRIGGER account_stays BEFORE UPDATE ON account
BEGIN SELECT RAISE(ABORT, 'the account never changes'); END;
CREATE TRIGGER account_remains BEFORE DELETE ON account
BEGIN SELECT RAISE(ABORT, 'the account is never deleted'); END;
CREATE TRIGGER next_charge BEFORE INSERT ON charge
WHEN NEW.number IS NOT (SELECT coalesce(max(number), 0) + 1 FROM charge)
BEGIN SELECT RAISE(ABORT, 'charges are only added at the end'); END;
CREATE TRIGGER charge_stays BEFORE UPDATE ON charge
BEGIN SELECT RAISE(ABORT, 'a charge never changes'); END;
CREATE TRIGGER charge_remains BEFORE DELETE ON charge
BEGIN SELECT RAISE(ABORT, 'a charge is never deleted'); END""",
)
"""The statements that create the tables of single records, as SQLite stores them."""

_UNIT_DEFINITIONS = [
    sql.replace("neighbours TEXT NOT NULL,", "neighbours TEXT NOT NULL,\n    unit TEXT NOT NULL,")
    for sql in _DEFINITIONS
]
"""The same for units: the account has the name of the unit."""

_DELTA_DEFINITIONS = [
    sql.replace(
        "epsilon TEXT NOT NULL,", "epsilon TEXT NOT NULL,\n    delta TEXT NOT NULL,"
    ).replace("unit TEXT NOT NULL,", "unit TEXT,")
    for sql in _UNIT_DEFINITIONS
]
"""The same with deltas, in the account and in each charge. The unit is NULL for single records."""

DEFINITIONS = {
    VERSION: _DEFINITIONS,
    UNIT_VERSION: _UNIT_DEFINITIONS,
    DELTA_VERSION: _DELTA_DEFINITIONS,
}
"""The statements of each version."""


@dataclass(frozen=True)
class Account:
    """The contents of a budget file at one moment."""

    dataset: str
    epsilon: Fraction
    delta: Fraction
    """Largest total delta; 0 in files of versions 1 and 2."""
    neighbours: str
    unit: str | None
    """Name of the unit that every charge protects; None: single records."""
    created: datetime
    """Time in UTC at which the file was created."""
    charges: tuple[Charge, ...]
    digest: str
    """Digest of all rows."""

    @property
    def spent(self) -> Fraction:
        return sum((charge.epsilon for charge in self.charges), Fraction(0))

    @property
    def remaining(self) -> Fraction:
        return self.epsilon - self.spent

    @property
    def spent_delta(self) -> Fraction:
        return sum((charge.delta for charge in self.charges), Fraction(0))

    @property
    def remaining_delta(self) -> Fraction:
        return self.delta - self.spent_delta


class DamagedBudgetError(Exception):
    """Error: a budget file contains something that this module never writes."""


def create_budget_tables(
    connection: sqlite3.Connection,
    dataset: str,
    epsilon: Fraction,
    delta: Fraction,
    neighbours: str,
    unit: str | None,
) -> None:
    """Create the tables of the first version that can hold this budget, and insert its account."""
    version = DELTA_VERSION if delta else VERSION if unit is None else UNIT_VERSION
    deltas = (_amount_in_sqlite(delta),) if version == DELTA_VERSION else ()
    units = () if version == VERSION else (unit,)
    row = (dataset, _amount_in_sqlite(epsilon), *deltas, neighbours, *units, _time_in_sqlite())
    connection.execute(f"PRAGMA user_version = {version}")
    for statement in DEFINITIONS[version]:
        connection.execute(statement)
    _insert_budget_row(connection, "account", (1, *row, budget_row_digest("", row)))


def add_charge_to_budget_file(
    connection: sqlite3.Connection,
    account: Account,
    epsilon: Fraction,
    delta: Fraction,
    purpose: str,
    note: str,
) -> None:
    """Insert a charge. The account must have been read in the same transaction."""
    number, time = len(account.charges) + 1, _time_in_sqlite()
    # Tables without a column for delta refuse a row with one, so that no delta is dropped.
    deltas = (_amount_in_sqlite(delta),) if account.delta or delta else ()
    row = (number, time, purpose, _amount_in_sqlite(epsilon), *deltas, note)
    _insert_budget_row(connection, "charge", (*row, budget_row_digest(account.digest, row)))


def _insert_budget_row(connection: sqlite3.Connection, table: str, row: Sequence[object]) -> None:
    places = ", ".join("?" * len(row))
    connection.execute(f"INSERT INTO {table} VALUES ({places})", tuple(row))


def _amount_in_sqlite(amount: Fraction) -> str:
    return f"{amount.numerator}/{amount.denominator}"


def _time_in_sqlite() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def read_budget_tables(connection: sqlite3.Connection) -> Account:
    """Read all rows. Raise a DamagedBudgetError if a digest or a value is wrong."""
    [verdict] = next(connection.execute("PRAGMA integrity_check(1)"))
    if verdict != "ok":
        raise DamagedBudgetError("SQLite reports inconsistent pages")
    found = connection.execute(
        "SELECT sql FROM sqlite_master WHERE substr(name, 1, 7) <> 'sqlite_'"
    )
    [version] = next(connection.execute("PRAGMA user_version"))
    if [sql for [sql] in found] != DEFINITIONS[version]:
        raise DamagedBudgetError("it does not have the tables of a budget")
    rows = list(_budget_rows(connection, "SELECT * FROM account"))
    if len(rows) != 1:
        raise DamagedBudgetError("it does not have exactly one row in the table account")
    [fields] = rows
    del fields["id"]
    digest = fields.pop("digest")
    if digest != budget_row_digest("", fields.values()):
        raise DamagedBudgetError("its row in the table account was altered")
    if fields["neighbours"] not in NEIGHBOURS:
        raise DamagedBudgetError(f"its neighbours are not one of {', '.join(NEIGHBOURS)}")
    charges: list[Charge] = []
    for row in _budget_rows(connection, "SELECT * FROM charge ORDER BY number"):
        number, found_digest = len(charges) + 1, row.pop("digest")
        digest = budget_row_digest(digest, row.values())
        if digest != found_digest or row["number"] != number:
            raise DamagedBudgetError(f"charge {number} was altered")
        charges.append(
            Charge(
                number=number,
                time=_parse_sqlite_time(row["time"]),
                purpose=budget_text(row["purpose"]),
                epsilon=_parse_sqlite_epsilon(row["epsilon"]),
                note=budget_text(row["note"]),
                delta=_parse_sqlite_delta(row.get("delta", "0/1")),
            )
        )
    account = Account(
        dataset=budget_text(fields["dataset"]),
        epsilon=_parse_sqlite_epsilon(fields["epsilon"]),
        delta=_parse_sqlite_delta(fields.get("delta", "0/1")),
        neighbours=fields["neighbours"],
        unit=_parse_sqlite_unit(fields.get("unit")),
        created=_parse_sqlite_time(fields["created"]),
        charges=tuple(charges),
        digest=digest,
    )
    if version == DELTA_VERSION and account.delta == 0:
        raise DamagedBudgetError("its delta is 0, but its version is that of budgets with a delta")
    if account.remaining < 0:
        raise DamagedBudgetError("its charges add up to more than its epsilon")
    if account.remaining_delta < 0:
        raise DamagedBudgetError("its charges add up to more than its delta")
    return account


def _budget_rows(connection: sqlite3.Connection, query: str) -> Iterator[dict[str, Any]]:
    """Yield each row as a dictionary of its columns, in their order."""
    found = connection.execute(query)
    names = [name for name, *_ in found.description]
    for row in found:
        yield dict(zip(names, row, strict=True))


def budget_row_digest(before: str, row: Iterable[object]) -> str:
    """Return the digest of a row; `before` is that of the row before it, or empty."""
    # JSON text is the same for equal rows, and differs for different ones.
    return hashlib.sha256(json.dumps([before, *row], default=repr).encode()).hexdigest()


def _parse_sqlite_epsilon(written: object) -> Fraction:
    amount = _parse_sqlite_fraction(written)
    if amount is None or amount <= 0:
        raise DamagedBudgetError("an epsilon is not a positive fraction")
    if amount > MAX_EPSILON:
        raise DamagedBudgetError(f"an epsilon is above {MAX_EPSILON:g}")
    return amount


def _parse_sqlite_delta(written: object) -> Fraction:
    amount = _parse_sqlite_fraction(written)
    if amount is None or not 0 <= amount < 1:
        raise DamagedBudgetError("a delta is not a fraction that is at least 0 and below 1")
    return amount


def _parse_sqlite_fraction(written: object) -> Fraction | None:
    if isinstance(written, str) and len(written) <= _MAX_AMOUNT_LENGTH:
        top, _, bottom = written.partition("/")
        if top.isdecimal() and bottom.isdecimal() and int(bottom) > 0:
            return Fraction(int(top), int(bottom))
    return None


def _parse_sqlite_unit(written: object) -> str | None:
    try:
        check_budget_unit(written)
    except ParameterError:
        raise DamagedBudgetError("its unit is not a printable name") from None
    return None if written is None else str(written)


def _parse_sqlite_time(written: object) -> datetime:
    try:
        return datetime.fromisoformat(str(written))
    except ValueError:
        raise DamagedBudgetError("one of its times is not a date and time") from None
