"""Opening and creating the SQLite file of a :class:`BudgetStore`, safe from crashes.

The database has a rollback journal, which SQLite deletes when a transaction commits
(``journal_mode=DELETE``). From then on the charge is in the file itself, which can be copied or
moved alone. In SQLite's other mode, WAL, a charge is in a second file for some time, and is lost
if that file is lost. A process that is killed leaves a journal, and with it the next process undoes
the unfinished charge. ``synchronous=EXTRA`` also writes the folder to disk: otherwise a journal
could reappear after a power failure and undo a charge whose model is already released.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from fractions import Fraction
from pathlib import Path

from privatree.errors import BudgetStoreError
from privatree.privacy._budget_checks import budget_text
from privatree.privacy._budget_tables import (
    DEFINITIONS,
    Account,
    DamagedBudgetError,
    create_budget_tables,
    read_budget_tables,
)

APPLICATION_ID = int.from_bytes(b"ptbs")
PATIENCE = 60.0
"""Seconds to wait for other processes. Each of their charges takes milliseconds."""


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
    path: Path,
    dataset: str,
    epsilon: Fraction,
    delta: Fraction,
    neighbours: str,
    unit: str | None,
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
    try:
        with _explain_sqlite_errors(path), closing(_connect_to_budget_file(path)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            create_budget_tables(connection, dataset, epsilon, delta, neighbours, unit)
            connection.execute("COMMIT")
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def read_budget_account(path: Path, connection: sqlite3.Connection) -> Account:
    """Read all rows. Raise a BudgetStoreError if a digest or a value is wrong."""
    try:
        return read_budget_tables(connection)
    except DamagedBudgetError as damage:
        raise BudgetStoreError(f"{path}: is damaged ({damage}). {_NEXT_STEP}.") from None


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
    if version not in DEFINITIONS:
        raise BudgetStoreError(
            f"{path}: is a budget of version {version}; this privatree reads versions "
            f"{min(DEFINITIONS)} to {max(DEFINITIONS)}. Upgrade privatree to read a later version."
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
