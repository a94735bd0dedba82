"""Reading and writing the SQLite file of a :class:`BudgetStore`. Charges are only ever added.

The database has a rollback journal, which SQLite deletes when a transaction commits
(``journal_mode=DELETE``). From then on the charge is in the file itself, which can be copied or
moved alone. In SQLite's other mode, WAL, a charge is in a second file for some time, and is lost
if that file is lost. A process that is killed leaves a journal, and with it the next process undoes
the unfinished charge. ``synchronous=EXTRA`` also writes the folder to disk: otherwise a journal
could reappear after a power failure and undo a charge whose model is already released.

SQLite has no checksums. So each row has a digest of itself and of all rows before it: a damaged row
is noticed, and is not read as a smaller charge. The digests protect from accidents, not from a
person who changes the file on purpose.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

from privatree.errors import BudgetStoreError
from privatree.privacy._budget import NEIGHBOURS, Charge, budget_text

APPLICATION_ID = int.from_bytes(b"ptbs")
VERSION, UNIT_VERSION = 1, 2
"""Versions of a file for single records, which older versions of privatree read, and for units."""
_MAX_AMOUNT_LENGTH = 1000
"""Largest number of characters of an amount. Python refuses to parse very long integers."""

PATIENCE = 60.0
"""Seconds to wait for other processes. Each of their charges takes milliseconds."""

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


@dataclass(frozen=True)
class Account:
    """The contents of a budget file at one moment."""

    dataset: str
    epsilon: Fraction
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


@contextmanager
def open_budget_file(path: Path, *, writing: bool) -> Iterator[sqlite3.Connection]:
    """Run the ``with`` block in one transaction: all its changes to the file are written, or none.

    With `writing`, no other process writes before the block ends. No connection outlives the block.
    Only SQLite may open the file: closing any other handle would drop the locks of other threads.
    """
    if not os.path.exists(path):
        raise BudgetStoreError(
            f"{path}: there is no such file. If a budget was created for these records, find its "
            "file: a new file would forget what was spent. Otherwise run privatree budget create."
        )
    if not os.path.isfile(path):
        raise BudgetStoreError(f"{path}: is not a file. Pass the path of a budget file.")
    with _explain_sqlite_errors(path), closing(_connect_to_budget_file(path)) as connection:
        connection.execute("BEGIN IMMEDIATE" if writing else "BEGIN")
        _check_is_budget_file(path, connection)
        yield connection
        connection.execute("COMMIT")


def create_budget_file(
    path: Path, dataset: str, epsilon: Fraction, neighbours: str, unit: str | None
) -> None:
    if path.is_dir():
        raise BudgetStoreError(f"{path}: is a folder. Pass the path of a file.")
    if not path.parent.is_dir():
        raise BudgetStoreError(f"{path}: there is no folder {path.parent}. Create it first.")
    try:
        # O_EXCL: of several processes that create this file at once, one succeeds.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666))
    except FileExistsError:
        raise BudgetStoreError(
            f"{path}: exists already. Use this budget, or choose another path for other records: "
            "a second budget for the same records would double what can be spent."
        ) from None
    except OSError as error:
        raise BudgetStoreError(
            f"{path}: cannot be created ({error.strerror}). Choose another folder."
        ) from None
    units = () if unit is None else (unit,)
    row = (dataset, _epsilon_in_sqlite(epsilon), neighbours, *units, _time_in_sqlite())
    places = ", ".join("?" * (len(row) + 1))
    try:
        with _explain_sqlite_errors(path), closing(_connect_to_budget_file(path)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {UNIT_VERSION if units else VERSION}")
            for statement in _UNIT_DEFINITIONS if units else _DEFINITIONS:
                connection.execute(statement)
            connection.execute(
                f"INSERT INTO account VALUES (1, {places})", (*row, _budget_row_digest("", row))
            )
            connection.execute("COMMIT")
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def read_budget_account(path: Path, connection: sqlite3.Connection) -> Account:
    """Read all rows. Raise a BudgetStoreError if a digest or a value is wrong."""
    try:
        return _read_checked_budget(connection)
    except _DamagedBudgetError as damage:
        raise BudgetStoreError(f"{path}: is damaged ({damage}). {_NEXT_STEP}.") from None


def add_charge_to_budget_file(
    connection: sqlite3.Connection, account: Account, epsilon: Fraction, purpose: str, note: str
) -> None:
    """Insert a charge. The account must have been read in the same transaction."""
    number, time = len(account.charges) + 1, _time_in_sqlite()
    row = (number, time, purpose, _epsilon_in_sqlite(epsilon), note)
    digest = _budget_row_digest(account.digest, row)
    connection.execute("INSERT INTO charge VALUES (?, ?, ?, ?, ?, ?)", (*row, digest))


def _epsilon_in_sqlite(epsilon: Fraction) -> str:
    return f"{epsilon.numerator}/{epsilon.denominator}"


def _time_in_sqlite() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


# --- connecting ---------------------------------------------------------------------------------


def _connect_to_budget_file(path: Path) -> sqlite3.Connection:
    # mode=rw never creates a file. Readers need it too, to undo what a killed process left.
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode=rw", uri=True, timeout=PATIENCE, isolation_level=None
    )
    # Text that is not UTF-8 must not fail here: the digest of its row will not match.
    connection.text_factory = lambda text: text.decode(errors="backslashreplace")
    try:
        for setting in ("trusted_schema = OFF", "cell_size_check = ON", "synchronous = EXTRA"):
            connection.execute(f"PRAGMA {setting}")
    except BaseException:
        connection.close()
        raise
    return connection


def _check_is_budget_file(path: Path, connection: sqlite3.Connection) -> None:
    """Raise a BudgetStoreError for another database, or for a file that can lose a charge."""
    [kind] = next(connection.execute("PRAGMA application_id"))
    if os.path.getsize(path) == 0:  # also after an interrupted creation was undone just now
        raise BudgetStoreError(
            f"{path}: is empty. If its creation was interrupted, delete it and create it again."
        )
    if os.stat(path).st_nlink > 1:
        # SQLite finds a journal by the name of the file. Under the other name it would not find
        # the journal of a killed process; found later, that journal would undo newer charges.
        raise BudgetStoreError(
            f"{path}: has a second name (a hard link), and charges under that name can be lost. "
            "Delete one of the two names."
        )
    if kind != APPLICATION_ID:
        raise BudgetStoreError(
            f"{path}: is a SQLite database, but not a budget of privatree. Pass the path of a "
            "budget file; privatree budget create makes one."
        )
    [version] = next(connection.execute("PRAGMA user_version"))
    if version not in (VERSION, UNIT_VERSION):
        raise BudgetStoreError(
            f"{path}: is a budget of version {version}; this privatree reads versions {VERSION} "
            f"and {UNIT_VERSION}. Upgrade privatree to read a later version."
        )
    [mode] = next(connection.execute("PRAGMA journal_mode"))
    if mode != "delete":
        raise BudgetStoreError(
            f"{path}: was switched to SQLite's journal mode {mode}, in which a charge can be lost. "
            "Open the file in a program for SQLite and run PRAGMA journal_mode = DELETE."
        )


_RESTORE = "restore the file from a backup, and charge again what was spent since then"
_NEXT_STEP = _RESTORE.capitalize()
_MUST_BE_WRITABLE = "The file and its folder must be writable"
_SQLITE_ERRORS = {
    sqlite3.SQLITE_BUSY: "other processes have locked the file for too long. Try again",
    sqlite3.SQLITE_CANTOPEN: f"cannot be opened. {_MUST_BE_WRITABLE}",
    sqlite3.SQLITE_CORRUPT: f"is damaged. {_NEXT_STEP}",
    sqlite3.SQLITE_FULL: "the disk is full. Free some space",
    sqlite3.SQLITE_NOTADB: f"is not a budget of privatree, or is damaged. If damaged, {_RESTORE}",
    sqlite3.SQLITE_PERM: f"is read-only. {_MUST_BE_WRITABLE}",
    sqlite3.SQLITE_READONLY: f"is read-only. {_MUST_BE_WRITABLE}",
}


@contextmanager
def _explain_sqlite_errors(path: Path) -> Iterator[None]:
    """Replace errors of SQLite by a BudgetStoreError with a message of one line."""
    try:
        yield
    except UnicodeDecodeError:  # the message of SQLite quotes damaged bytes of the file
        code, found = sqlite3.SQLITE_CORRUPT, ""
    except sqlite3.Error as error:
        code, found = (
            getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR),
            budget_text(error),
        )
    else:
        return
    kind = code & 0xFF  # the primary code of an extended error code
    raise BudgetStoreError(f"{path}: {_SQLITE_ERRORS.get(kind, f'cannot be used ({found})')}.")


# --- reading ------------------------------------------------------------------------------------


class _DamagedBudgetError(Exception):
    """Error: a budget file contains something that this module never writes."""


def _read_checked_budget(connection: sqlite3.Connection) -> Account:
    [verdict] = next(connection.execute("PRAGMA integrity_check(1)"))
    if verdict != "ok":
        raise _DamagedBudgetError("SQLite reports inconsistent pages")
    found = connection.execute(
        "SELECT sql FROM sqlite_master WHERE substr(name, 1, 7) <> 'sqlite_'"
    )
    [version] = next(connection.execute("PRAGMA user_version"))
    if [sql for [sql] in found] != (_DEFINITIONS if version == VERSION else _UNIT_DEFINITIONS):
        raise _DamagedBudgetError("it does not have the tables of a budget")
    rows = connection.execute("SELECT * FROM account").fetchall()
    if len(rows) != 1:
        raise _DamagedBudgetError("it does not have exactly one row in the table account")
    _, *fields, digest = rows[0]
    if digest != _budget_row_digest("", fields):
        raise _DamagedBudgetError("its row in the table account was altered")
    dataset, epsilon, neighbours, *units, created = fields
    if neighbours not in NEIGHBOURS:
        raise _DamagedBudgetError(f"its neighbours are not one of {', '.join(NEIGHBOURS)}")
    charges: list[Charge] = []
    for row in connection.execute("SELECT * FROM charge ORDER BY number"):
        *fields, found_digest = row
        digest = _budget_row_digest(digest, fields)
        number, time, purpose, amount, note = fields
        if digest != found_digest or number != len(charges) + 1:
            raise _DamagedBudgetError(f"charge {len(charges) + 1} was altered")
        texts = budget_text(purpose), _parse_sqlite_epsilon(amount), budget_text(note)
        charges.append(Charge(number, _parse_sqlite_time(time), *texts))
    account = Account(
        budget_text(dataset),
        _parse_sqlite_epsilon(epsilon),
        neighbours,
        units[0] if units else None,
        _parse_sqlite_time(created),
        tuple(charges),
        digest,
    )
    if account.remaining < 0:
        raise _DamagedBudgetError("its charges add up to more than its epsilon")
    return account


def _budget_row_digest(before: str, row: Iterable[object]) -> str:
    # JSON text is the same for equal rows, and differs for different ones.
    return hashlib.sha256(json.dumps([before, *row], default=repr).encode()).hexdigest()


def _parse_sqlite_epsilon(written: object) -> Fraction:
    if isinstance(written, str) and len(written) <= _MAX_AMOUNT_LENGTH:
        top, _, bottom = written.partition("/")
        if top.isdecimal() and bottom.isdecimal() and int(top) > 0 and int(bottom) > 0:
            return Fraction(int(top), int(bottom))
    raise _DamagedBudgetError("an epsilon is not a positive fraction")


def _parse_sqlite_time(written: object) -> datetime:
    try:
        return datetime.fromisoformat(str(written))
    except ValueError:
        raise _DamagedBudgetError("one of its times is not a date and time") from None
