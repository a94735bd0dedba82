"""The file of a :class:`BudgetStore`: one account, and charges that are only ever added.

It is a SQLite database with a rollback journal, which is deleted when a transaction commits
(``journal_mode=DELETE``). From then on the charge is in the file itself, which can be copied or
moved alone; in the other mode, WAL, it would for some time be in a second file, and be lost without
it. A process that is killed leaves a journal, by which the next one undoes the unfinished charge.
``synchronous=EXTRA`` also writes the folder to disk: after a power failure a journal that came back
would undo a charge whose model is out.

SQLite has no checksums. So each row has a digest of itself and of those before it: a damaged row is
noticed, not read as a smaller charge. That helps against accidents, not against somebody who means
to change the file.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

from privatree._support.escape import escape_text
from privatree.errors import BudgetStoreError
from privatree.privacy._budget import Charge

APPLICATION_ID = int.from_bytes(b"ptbs")
VERSION = 1
_MAX_AMOUNT_LENGTH = 1000
"""Characters of an amount; Python reads no integers of many thousand digits."""

_MAX_TEXT_LENGTH = 200

PATIENCE = 60.0
"""Seconds to wait for other processes. A charge takes them milliseconds."""

_CREATE = """
CREATE TABLE account (
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
BEGIN SELECT RAISE(ABORT, 'a charge is never deleted'); END;
"""


@dataclass(frozen=True)
class Account:
    """A budget's file as it was at one moment.

    Attributes
    ----------
    dataset : str
        Whose records the budget is for.
    epsilon : Fraction
        The largest total.
    neighbours : {"add-remove", "replace"}
        Between which tables it holds.
    created : datetime
        When the file was made, in UTC.
    charges : tuple of Charge
        What was taken until then.
    """

    dataset: str
    epsilon: Fraction
    neighbours: str
    created: datetime
    charges: tuple[Charge, ...]
    digest: str
    """Of everything above."""

    @property
    def spent(self) -> Fraction:
        """The sum of the charges."""
        return sum((charge.epsilon for charge in self.charges), Fraction(0))

    @property
    def remaining(self) -> Fraction:
        """What is left."""
        return self.epsilon - self.spent


@contextmanager
def transaction(path: Path, *, writing: bool) -> Iterator[sqlite3.Connection]:
    """All of what is done with the file in the block, or nothing; what is read belongs together.

    With `writing`, nobody else writes from the first line of the block to the end. No connection
    outlives the block, and the file is never opened but by SQLite: closing it would drop the locks
    of other threads.
    """
    if not os.path.exists(path):
        raise BudgetStoreError(
            f"{path}: there is no such file. If these records were charged before, look for it: a "
            "new one forgets what was spent. For others, privatree budget create makes one."
        )
    if not os.path.isfile(path):
        raise BudgetStoreError(f"{path}: is not a file. Name the file of a budget.")
    with _failures_named(path), closing(_connected(path)) as connection:
        connection.execute("BEGIN IMMEDIATE" if writing else "BEGIN")
        _check_kind(path, connection)
        yield connection
        connection.execute("COMMIT")


def create(path: Path, dataset: str, epsilon: Fraction, neighbours: str) -> None:
    """Make a file with an account; one that is there stays as it is."""
    if path.is_dir():
        raise BudgetStoreError(f"{path}: is a folder. Name a file in it.")
    if not path.parent.is_dir():
        raise BudgetStoreError(f"{path}: there is no folder {path.parent}. Create it first.")
    try:
        # Reserves the name, whoever else wants it.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666))
    except FileExistsError:
        raise BudgetStoreError(
            f"{path}: is there already. Use it, or name another file: a second budget for the same "
            "records would allow to spend both."
        ) from None
    except OSError as error:
        raise BudgetStoreError(
            f"{path}: cannot be created: {error.strerror}. Name a file in another folder."
        ) from None
    created = _written_time(datetime.now(UTC))
    row = (dataset, written_amount(epsilon), neighbours, created)
    try:
        with _failures_named(path), closing(_connected(path)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
            for statement in _statements():
                connection.execute(statement)
            connection.execute(
                "INSERT INTO account VALUES (1, ?, ?, ?, ?, ?)", (*row, _digest("", row))
            )
            connection.execute("COMMIT")
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def read_account(path: Path, connection: sqlite3.Connection) -> Account:
    """Everything in the file, checked in full."""
    try:
        return _checked_account(connection)
    except _DamageError as damage:
        raise BudgetStoreError(f"{path}: is damaged: {damage}. {_NEXT_STEP}.") from None


def add_charge(
    connection: sqlite3.Connection, account: Account, epsilon: Fraction, purpose: str, note: str
) -> None:
    """Write one more charge, in the transaction in which the account was read."""
    time = _written_time(datetime.now(UTC))
    row = (len(account.charges) + 1, time, purpose, written_amount(epsilon), note)
    digest = _digest(account.digest, row)
    connection.execute("INSERT INTO charge VALUES (?, ?, ?, ?, ?, ?)", (*row, digest))


def written_amount(amount: Fraction) -> str:
    """An exact fraction as text: 1/10."""
    return f"{amount.numerator}/{amount.denominator}"


# --- connecting ---------------------------------------------------------------------------------


def _connected(path: Path) -> sqlite3.Connection:
    # mode=rw, also for reading: it never makes a file, and undoes what a killed process left.
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode=rw", uri=True, timeout=PATIENCE, isolation_level=None
    )
    # A damaged text is no failure of SQLite: its digest tells.
    connection.text_factory = lambda text: text.decode(errors="backslashreplace")
    try:
        for setting in ("trusted_schema = OFF", "cell_size_check = ON", "synchronous = EXTRA"):
            connection.execute(f"PRAGMA {setting}")
    except BaseException:
        connection.close()
        raise
    return connection


def _check_kind(path: Path, connection: sqlite3.Connection) -> None:
    """Refuse a database of another application, and one that keeps charges in a second file."""
    [kind] = next(connection.execute("PRAGMA application_id"))
    if os.path.getsize(path) == 0:  # also after an interrupted creation was undone just now
        raise BudgetStoreError(
            f"{path}: is empty. If its creation was interrupted, delete it and create it again."
        )
    if os.stat(path).st_nlink > 1:
        # A journal is found by the name of its file: under the other one, a charge that a killed
        # process left unfinished would not be undone now, and later undo those made since.
        raise BudgetStoreError(
            f"{path}: has a second name (a hard link), under which charges can be lost. Delete one "
            "of them."
        )
    if kind != APPLICATION_ID:
        raise BudgetStoreError(
            f"{path}: is a SQLite database, but not a budget of privatree. Name the file of one; "
            "privatree budget create makes it."
        )
    [version] = next(connection.execute("PRAGMA user_version"))
    if version != VERSION:
        raise BudgetStoreError(
            f"{path}: is a budget of version {version}; this privatree reads version {VERSION}. "
            "Please upgrade privatree."
        )
    [mode] = next(connection.execute("PRAGMA journal_mode"))
    if mode != "delete":
        raise BudgetStoreError(
            f"{path}: somebody put it in SQLite's journal mode {mode}, in which a charge can be "
            "lost. Run PRAGMA journal_mode = DELETE on it in a program for SQLite."
        )


_RESTORE = "restore it from a backup, and charge anew what was spent since then"
_NEXT_STEP = _RESTORE.capitalize()
_REASONS = {
    sqlite3.SQLITE_BUSY: "other processes have kept it busy for too long. Try again",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened. Its folder and itself must be writable",
    sqlite3.SQLITE_CORRUPT: f"is damaged. {_NEXT_STEP}",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_NOTADB: f"is not a budget of privatree, or damaged. If it was one, {_RESTORE}",
    sqlite3.SQLITE_PERM: "must be writable, itself and its folder",
    sqlite3.SQLITE_READONLY: "must be writable, itself and its folder",
}


@contextmanager
def _failures_named(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into one line that says what to do."""
    try:
        yield
    except UnicodeDecodeError:  # SQLite quotes what it found where names should be
        code, found = sqlite3.SQLITE_CORRUPT, ""
    except sqlite3.Error as error:
        code, found = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR), one_line(error)
    else:
        return
    kind = code & 0xFF  # of an extended code
    raise BudgetStoreError(f"{path}: {_REASONS.get(kind, f'cannot be used: {found}')}.")


# --- reading ------------------------------------------------------------------------------------


class _DamageError(Exception):
    """What the file has is not what is written by this module."""


def _checked_account(connection: sqlite3.Connection) -> Account:
    [verdict] = next(connection.execute("PRAGMA integrity_check(1)"))
    if verdict != "ok":
        raise _DamageError("SQLite finds its pages inconsistent")
    found = connection.execute(
        "SELECT sql FROM sqlite_master WHERE substr(name, 1, 7) <> 'sqlite_'"
    )
    if [sql for [sql] in found] != _statements():
        raise _DamageError("its tables are not those of a budget")
    rows = connection.execute("SELECT * FROM account").fetchall()
    if len(rows) != 1:
        raise _DamageError("it has no account")
    _, *fields, digest = rows[0]
    if digest != _digest("", fields):
        raise _DamageError("its account was changed")
    dataset, epsilon, neighbours, created = fields
    if neighbours not in ("add-remove", "replace"):
        raise _DamageError("its neighbours are of no kind")
    charges: list[Charge] = []
    for row in connection.execute("SELECT * FROM charge ORDER BY number"):
        *fields, found_digest = row
        digest = _digest(digest, fields)
        number, time, purpose, amount, note = fields
        if digest != found_digest or number != len(charges) + 1:
            raise _DamageError(f"charge {len(charges) + 1} was changed")
        texts = one_line(purpose), _read_amount(amount), one_line(note)
        charges.append(Charge(number, _read_time(time), *texts))
    account = Account(
        one_line(dataset),
        _read_amount(epsilon),
        neighbours,
        _read_time(created),
        tuple(charges),
        digest,
    )
    if account.remaining < 0:
        raise _DamageError("its charges add up to more than the budget")
    return account


def _statements() -> list[str]:
    """As SQLite keeps them: one at a time, without the semicolon at the end."""
    found, pending = [], ""
    for line in _CREATE.strip().splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            found.append(pending.strip().removesuffix(";"))
            pending = ""
    return found


def _digest(before: str, row: Iterable[object]) -> str:
    # As JSON, no two rows have the same text, and a row always has the same.
    return hashlib.sha256(json.dumps([before, *row], default=repr).encode()).hexdigest()


def _read_amount(written: object) -> Fraction:
    if isinstance(written, str) and len(written) <= _MAX_AMOUNT_LENGTH:
        top, _, bottom = written.partition("/")
        if top.isdecimal() and bottom.isdecimal() and int(top) > 0 and int(bottom) > 0:
            return Fraction(int(top), int(bottom))
    raise _DamageError("an amount must be a positive fraction")


def one_line(text: object) -> str:
    """What can be kept and shown anywhere: printable, and not too long."""
    shown = escape_text(str(text))
    return shown if len(shown) <= _MAX_TEXT_LENGTH else f"{shown[: _MAX_TEXT_LENGTH - 3]}..."


def _written_time(time: datetime) -> str:
    return time.isoformat(timespec="seconds")


def _read_time(written: object) -> datetime:
    try:
        return datetime.fromisoformat(str(written))
    except ValueError:
        raise _DamageError("a time must be a time") from None
