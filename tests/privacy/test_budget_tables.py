"""The tables of a budget file: its versions, read for ever, and rows that nobody wrote."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from privatree.errors import BudgetExceededError, BudgetStoreError
from privatree.privacy import BudgetStore
from privatree.privacy import _budget_tables as budget_tables

FILES = Path(__file__).parent / "files"
MICRO = Fraction(1, 10**6)
SETTINGS: dict[str, dict[str, Any]] = {
    "version-1": {},
    "version-2": {"neighbours": "replace", "unit": "patient_id"},
    "version-3": {"delta": 1e-5},
    "version-3-unit": {"delta": 1e-5, "neighbours": "replace", "unit": "patient_id"},
}
"""What makes a file of each version. The stored files of versions 1 and 2 are older than deltas."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "patients.db"


@contextmanager
def raw(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path)) as connection:
        yield connection
        connection.commit()


def damage(path: Path) -> str:
    """What is said to be wrong, whether the file is opened or charged."""
    handle = BudgetStore.__new__(BudgetStore)
    handle.path, handle.note = path, ""
    before, messages = path.read_bytes(), set()
    for use in (
        lambda: BudgetStore(path),
        lambda: handle.charge(MICRO, delta=MICRO**2, purpose="model"),
    ):
        with pytest.raises(BudgetStoreError) as caught:
            use()
        messages.add(str(caught.value))
    assert path.read_bytes() == before
    (message,) = messages
    return message.removeprefix(f"{path}: is damaged (").partition(").")[0]


# --- versions -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SETTINGS)
def test_a_file_of_every_version_is_read_and_charged_for_ever(path: Path, name: str) -> None:
    shutil.copy(FILES / f"{name}.db", path)
    settings = dict(SETTINGS[name])
    delta = settings.pop("delta", 0)
    account = BudgetStore(path).read()
    assert (account.dataset, account.epsilon) == ("patients", Fraction(11, 10))
    assert account.delta == (10 * MICRO if delta else 0)
    assert account.neighbours == settings.get("neighbours", "add-remove")
    assert account.unit == settings.get("unit")
    assert account.created.isoformat() == "2030-01-02T03:04:00+00:00"
    first, second = account.charges
    assert (first.number, first.purpose, first.note) == (1, "PrivaTreeClassifier", "model.json")
    assert (first.epsilon, first.delta) == (Fraction(1, 10), MICRO if delta else 0)
    assert (second.number, second.purpose, second.note) == (2, "größe: number of records", "")
    assert (second.epsilon, second.delta) == (Fraction(1, 3), 0)
    BudgetStore(path).charge(0.25, delta=delta / 2, purpose="a third model", **settings)
    account = BudgetStore(path).read()
    assert account.remaining == 1 - Fraction(1, 3) - Fraction(1, 4)
    assert account.remaining_delta == (4 * MICRO if delta else 0)
    assert [charge.number for charge in account.charges] == [1, 2, 3]


@pytest.mark.parametrize("name", SETTINGS)
def test_a_new_file_is_what_earlier_versions_of_privatree_wrote(
    path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """With digests and all: only SQLite's own version may differ."""
    seconds, settings = count(), dict(SETTINGS[name])
    monkeypatch.setattr(
        budget_tables, "_time_in_sqlite", lambda: f"2030-01-02T03:04:{next(seconds):02d}+00:00"
    )
    store = BudgetStore.create(path, 1.1, dataset="patients", **settings)
    first = 1e-6 if settings.pop("delta", 0) else 0
    noted = BudgetStore(path, note="model.json")
    noted.charge(0.1, delta=first, purpose="PrivaTreeClassifier", **settings)
    store.charge(Fraction(1, 3), purpose="größe: number of records", **settings)

    def content(file: Path) -> list[Any]:
        with raw(file) as connection:
            pragmas = ("application_id", "user_version", "journal_mode", "encoding", "page_size")
            found = [connection.execute(f"PRAGMA {pragma}").fetchone() for pragma in pragmas]
            return found + list(connection.iterdump())

    shutil.copy(FILES / f"{name}.db", path.with_name("stored.db"))
    assert content(path) == content(path.with_name("stored.db"))


def test_a_budget_gets_the_first_version_that_can_hold_it(tmp_path: Path) -> None:
    """Older versions of privatree refuse a number that they do not know."""
    for name, settings in SETTINGS.items():
        BudgetStore.create(tmp_path / name, 1, **settings)
        with raw(tmp_path / name) as connection:
            [version] = next(connection.execute("PRAGMA user_version"))
        assert version == int(name.split("-")[1])
    BudgetStore.create(tmp_path / "zero", 1, delta=0.0)
    with raw(tmp_path / "zero") as connection:
        assert next(connection.execute("PRAGMA user_version")) == (1,)


@pytest.mark.parametrize("name", SETTINGS)
def test_a_version_is_not_read_as_another(path: Path, name: str) -> None:
    BudgetStore.create(path, 1, **SETTINGS[name])
    for version in {1, 2, 3} - {int(name.split("-")[1])}:
        with raw(path) as connection:
            connection.execute(f"PRAGMA user_version = {version}")
        assert damage(path) == "it does not have the tables of a budget"


@pytest.mark.parametrize("name", ["version-1", "version-2"])
def test_a_delta_is_not_dropped_where_there_is_no_column_for_it(
    path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Even if it is not checked before."""
    store = BudgetStore.create(path, 1, **SETTINGS[name])
    monkeypatch.setattr("privatree.privacy._budget_store.check_budget_covers", lambda *_: None)
    with pytest.raises(BudgetStoreError, match="cannot be used"):
        store.charge(0.5, delta=1e-6, purpose="model", **SETTINGS[name])
    assert store.charges == []


# --- rows that nobody wrote ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE charge SET delta = '0/1'",
        "INSERT OR REPLACE INTO charge VALUES (1, '', '', '1/1000', '0/1', '', '')",
        "UPDATE account SET delta = '1/2'",
        "UPDATE account SET unit = 'patient_id'",
    ],
)
def test_a_delta_never_changes(path: Path, statement: str) -> None:
    """By SQLite itself; and what is done without its triggers is noticed."""
    store = BudgetStore.create(path, 1, delta=1e-5)
    store.charge(0.25, delta=1e-6, purpose="first")
    with raw(path) as connection, pytest.raises(sqlite3.IntegrityError):
        connection.execute(statement)
    assert store.remaining_delta == 9 * MICRO
    without_triggers(path, [statement])
    assert damage(path).endswith("was altered")


def without_triggers(path: Path, statements: list[str]) -> None:
    with raw(path) as connection:
        found = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        triggers = connection.execute(found).fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)
        for _, sql in triggers:
            connection.execute(sql)


def write_rows(path: Path, account: tuple[Any, ...], charges: list[tuple[Any, ...]]) -> None:
    """Put rows into a budget with a delta, each with the digest that belongs to it."""
    BudgetStore.create(path, 1, delta=0.5)
    without_triggers(path, ["DELETE FROM account"])
    digest = budget_tables.budget_row_digest("", account)
    with raw(path) as connection:
        connection.execute(
            "INSERT INTO account VALUES (1, ?, ?, ?, ?, ?, ?, ?)", (*account, digest)
        )
        for row in charges:
            digest = budget_tables.budget_row_digest(digest, row)
            connection.execute("INSERT INTO charge VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, digest))


TIME = "2030-01-01T00:00:00+00:00"
NOT_A_DELTA = "a delta is not a fraction that is at least 0 and below 1"


def account_row(*, epsilon: Any = "1/1", delta: Any = "1/2", unit: Any = None) -> tuple[Any, ...]:
    return ("patients", epsilon, delta, "add-remove", unit, TIME)


def charge_row(number: int, delta: Any) -> tuple[Any, ...]:
    return (number, TIME, "model", "1/10", delta, "")


@pytest.mark.parametrize(
    ("deltas", "message"),
    [
        (["1/4", "1/4", "1/1000"], "its charges add up to more than its delta"),
        (["-1/4"], NOT_A_DELTA),
        (["1/1"], NOT_A_DELTA),
        (["3/2"], NOT_A_DELTA),
        (["1/0"], NOT_A_DELTA),
        (["0/0"], NOT_A_DELTA),
        (["0"], NOT_A_DELTA),
        (["0.25"], NOT_A_DELTA),
        (["1e-6"], NOT_A_DELTA),
        ([""], NOT_A_DELTA),
        ([f"1/{10**999}"], NOT_A_DELTA),
        ([b"1/4"], NOT_A_DELTA),
    ],
    ids=lambda value: str(value)[:12],
)
def test_rows_that_no_charge_writes_are_refused(
    path: Path, deltas: list[Any], message: str
) -> None:
    """Even if somebody took pains to give them their digest."""
    charges = [charge_row(number, delta) for number, delta in enumerate(deltas, start=1)]
    write_rows(path, account_row(), charges)
    assert damage(path) == message


@pytest.mark.parametrize(
    ("account", "message"),
    [
        (account_row(delta="0/1"), "its delta is 0, but its version is that of budgets with"),
        (account_row(delta="1/1"), NOT_A_DELTA),
        (account_row(delta="-1/2"), NOT_A_DELTA),
        (account_row(delta="half"), NOT_A_DELTA),
        (account_row(delta=b"1/2"), NOT_A_DELTA),
        (account_row(epsilon="1000000001/1"), "an epsilon is above 1e+09"),
        (account_row(unit=""), "its unit is not a printable name"),
        (account_row(unit="a\x1b[31m"), "its unit is not a printable name"),
        (account_row(unit=b"patient_id"), "its unit is not a printable name"),
        (account_row(unit="x" * 201), "its unit is not a printable name"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_accounts_that_nobody_creates_are_refused(
    path: Path, account: tuple[Any, ...], message: str
) -> None:
    write_rows(path, account, [])
    assert damage(path).startswith(message)


def test_rows_as_they_are_written_are_read(path: Path) -> None:
    """So the refusals above are due to what is wrong in them."""
    write_rows(path, account_row(), [charge_row(1, "1/4"), charge_row(2, "0/1")])
    store = BudgetStore(path)
    assert (store.unit, store.remaining_delta) == (None, Fraction(1, 4))
    store.charge(0.25, delta=0.25, purpose="model")
    with pytest.raises(BudgetExceededError, match="nothing of the budget's delta is left"):
        store.charge(0.25, delta=0.25, purpose="model")


ODD_VALUES: list[Any] = [
    "0/1", "1/4", "1/2", "1/3", "2/4", "999/1000", "1/1", "5/1", "0/0", "1/-1", "-0/1", "/", "1/",
    " 1/4", "1/4 ", "1_0/40", "١/٤", "1/4\x00", "nan", "", None, 0, 1, 0.25, -1, b"1/4",
    "9" * 998 + "/1",
]  # fmt: skip


@pytest.mark.slow
def test_odd_rows_are_refused_or_within_the_limits(tmp_path: Path) -> None:
    """Whatever stands in them: no row gives anything back, and no error but the one for files."""
    rng, outcomes = random.Random(0), []
    for turn in range(200):
        path = tmp_path / f"{turn}.db"
        account = (
            "patients",
            rng.choice(["1/1", "3/1", rng.choice(ODD_VALUES)]),
            rng.choice(["1/2", "3/4", rng.choice(ODD_VALUES)]),
            "add-remove",
            rng.choice([None, "patient_id", rng.choice(ODD_VALUES)]),
            TIME,
        )
        rows = [
            (number, TIME, "model", rng.choice(["1/4", rng.choice(ODD_VALUES)]), delta, "")
            for number, delta in enumerate(rng.choices([*ODD_VALUES, *["1/10"] * 60], k=2), 1)
        ]
        try:
            write_rows(path, account, rows)
        except sqlite3.IntegrityError:  # NULL
            continue
        try:
            found = BudgetStore(path).read()
        except BudgetStoreError:
            outcomes.append(False)
            continue
        outcomes.append(True)
        assert len(found.charges) == len(rows)
        assert 0 <= found.remaining <= found.epsilon <= 10**9
        assert 0 <= found.remaining_delta <= found.delta < 1
        assert all(charge.epsilon > 0 and charge.delta >= 0 for charge in found.charges)
    assert 20 < outcomes.count(True) < len(outcomes) - 20
