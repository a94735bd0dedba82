"""The budget in a file: exact, only added to, safe from crashes, damage and other processes."""

from __future__ import annotations

import copy
import importlib.util
import multiprocessing
import os
import pickle
import random
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, nullcontext, suppress
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from sklearn.base import clone

from privatree import PrivaTreeClassifier
from privatree.errors import BudgetExceededError, BudgetStoreError, ParameterError
from privatree.privacy import Budget, BudgetStore
from privatree.privacy import _budget_file as budget_file
from privatree.privacy import _budget_store as budget_store
from privatree.privacy import _budget_tables as budget_tables

ROOT = Path(__file__).parents[2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "patients.db"


@pytest.fixture
def store(path: Path) -> BudgetStore:
    return BudgetStore.create(path, 1.0, dataset="patients")


@contextmanager
def raw(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path)) as connection:
        yield connection
        connection.commit()


FORKS = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
"""Python says so of a process that has threads."""


def in_a_fork(do: Callable[[], None]) -> int | None:
    process = multiprocessing.get_context("fork").Process(target=do)
    process.start()
    process.join()
    return process.exitcode


# --- like the budget in memory ------------------------------------------------------------------


def test_a_new_store_is_whole(store: BudgetStore, path: Path) -> None:
    assert store.epsilon == store.remaining == 1
    assert store.charges == []
    assert (store.neighbours, store.dataset) == ("add-remove", "patients")
    assert store.path == path
    assert repr(store) == f"BudgetStore({str(path)!r})"
    assert store.read().created.utcoffset() == timedelta(0)
    assert [file.name for file in path.parent.iterdir()] == ["patients.db"]


def test_it_has_what_a_budget_in_memory_has(store: BudgetStore) -> None:
    names = {name for name in vars(Budget(1)) if not name.startswith("_")}
    names |= {name for name in vars(Budget) if not name.startswith("_")}
    for name in names:
        assert hasattr(store, name)


@pytest.mark.parametrize(
    ("cap", "each", "times"), [(1, 0.1, 10), (0.3, 0.1, 3), (0.7, 0.1, 7), (1.1, 0.05, 22)]
)
def test_floats_are_the_decimals_that_people_add_up(
    path: Path, cap: float, each: float, times: int
) -> None:
    store = BudgetStore.create(path, cap)
    for _ in range(times):
        store.charge(each, purpose="model")
    assert store.remaining == 0
    with pytest.raises(BudgetExceededError, match="nothing of the budget is left"):
        store.charge(Fraction(1, 10**30), purpose="one more")


def test_what_does_not_fit_is_refused_with_what_is_left_and_nothing_is_taken(
    store: BudgetStore,
) -> None:
    store.charge(0.75, purpose="first")
    with pytest.raises(BudgetExceededError) as caught:
        store.charge(0.5, purpose="a second model")
    assert str(caught.value) == (
        "a second model: epsilon=0.5 was requested, but only 0.25 of the budget is left. "
        "Nothing was drawn. Lower epsilon."
    )
    assert [(charge.purpose, charge.epsilon) for charge in store.charges] == [
        ("first", Fraction(3, 4))
    ]


def test_what_comes_later_must_be_left_but_is_not_taken(store: BudgetStore) -> None:
    store.charge(0.03, purpose="first", later=Fraction(97, 100))
    assert store.remaining == Fraction(97, 100)
    with pytest.raises(BudgetExceededError, match=r"epsilon=0\.98 was requested"):
        store.charge(0.5, purpose="second", later=Fraction(48, 100))
    with pytest.raises(ParameterError, match="later must be at least 0"):
        store.charge(1.5, purpose="third", later=Fraction(-1))
    assert len(store.charges) == 1


def test_charges_for_other_neighbours_are_refused(tmp_path: Path) -> None:
    for mine, its in (("add-remove", "replace"), ("replace", "add-remove")):
        store = BudgetStore.create(tmp_path / mine, 1, neighbours=mine)
        with pytest.raises(
            ParameterError,
            match=f"for neighbours='{mine}', but .*'{its}'",
        ):
            store.charge(0.25, purpose="model", neighbours=its)
        assert store.remaining == 1
        store.charge(0.25, purpose="model", neighbours=mine)
        assert store.remaining == Fraction(3, 4)


@pytest.mark.parametrize(
    "epsilon",
    [0, -1, float("nan"), float("inf"), True, "1", None, 10**9 + 1, Fraction(1, 10**400)],
    ids=lambda epsilon: str(epsilon)[:12],
)
def test_bad_amounts_are_refused(store: BudgetStore, tmp_path: Path, epsilon: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon must"):
        store.charge(epsilon, purpose="a refund?")
    assert store.charges == []
    with pytest.raises(ParameterError, match="epsilon must"):
        BudgetStore.create(tmp_path / "other.db", epsilon)
    assert not (tmp_path / "other.db").exists()


@pytest.mark.parametrize("epsilon", [5e-324, 1e9, Fraction(1, 3), Fraction(10**8, 7)])
def test_amounts_of_any_size_are_kept_exactly(path: Path, epsilon: Any) -> None:
    store = BudgetStore.create(path, 1e9)
    store.charge(epsilon, purpose="model")
    exact = epsilon if isinstance(epsilon, Fraction) else Fraction(repr(epsilon))
    assert BudgetStore(path).charges[0].epsilon == exact


def test_texts_are_one_line_that_can_be_shown(path: Path) -> None:
    store = BudgetStore.create(path, 1, dataset="a\nb\x1b[31m\udcff")
    assert store.dataset == "a\\nb\\x1b[31m\\udcff"
    BudgetStore(path, note="x" * 300).charge(0.5, purpose="é '; DROP TABLE charge; --\0")
    (charge,) = store.charges
    assert charge.purpose == "é '; DROP TABLE charge; --\\x00"
    assert charge.note == "x" * 197 + "..."
    assert charge.time - store.read().created < timedelta(minutes=10)


class Comparison(RuleBasedStateMachine):
    """Any order of charges through any copies of it gives what a list of fractions gives."""

    folder: Path
    amounts = st.sampled_from([0.1, 0.25, 0.3, 1e-9]) | st.fractions(
        Fraction(1, 50), 1, max_denominator=50
    )

    @initialize(epsilon=st.sampled_from([0.5, 1, 2.0]) | st.fractions(Fraction(1, 10), 2))
    def create(self, epsilon: Any) -> None:
        path = self.folder / f"{len(list(self.folder.iterdir()))}.db"
        self.handles = [BudgetStore.create(path, epsilon)]
        self.left = Fraction(repr(epsilon)) if isinstance(epsilon, float) else Fraction(epsilon)
        self.taken = list[Fraction]()

    @rule(amount=amounts, which=st.integers(0, 9))
    def charge(self, amount: Any, which: int) -> None:
        exact = amount if isinstance(amount, Fraction) else Fraction(repr(amount))
        handle = self.handles[which % len(self.handles)]
        if exact > self.left:
            with pytest.raises(BudgetExceededError):
                handle.charge(amount, purpose="model")
        else:
            handle.charge(amount, purpose="model")
            self.left -= exact
            self.taken.append(exact)

    @rule(which=st.integers(0, 9), way=st.sampled_from(["open", "pickle", "copy"]))
    def copy(self, which: int, way: str) -> None:
        handle = self.handles[which % len(self.handles)]
        ways: dict[str, Callable[[], BudgetStore]] = {
            "open": lambda: BudgetStore(handle.path),
            "pickle": lambda: pickle.loads(pickle.dumps(handle)),
            "copy": lambda: copy.deepcopy(handle),
        }
        self.handles.append(ways[way]())

    @invariant()
    def the_same(self) -> None:
        if hasattr(self, "handles"):
            account = self.handles[-1].read()
            assert account.remaining == self.left
            assert [charge.epsilon for charge in account.charges] == self.taken


@pytest.mark.slow
def test_any_charges(tmp_path: Path) -> None:
    class Here(Comparison):
        folder = tmp_path

    few = settings(max_examples=15, stateful_step_count=12, derandomize=True, deadline=None)
    run_state_machine_as_test(Here, settings=few)


# --- the same account, wherever it goes ---------------------------------------------------------


def test_copies_pickles_and_clones_are_the_same_account(store: BudgetStore) -> None:
    estimator = clone(PrivaTreeClassifier(budget=store))
    for other in (copy.deepcopy(store), pickle.loads(pickle.dumps(store)), estimator.budget):
        before = store.remaining
        other.charge(0.1, purpose="model")
        assert store.remaining == before - Fraction(1, 10)


def test_a_model_can_be_unpickled_where_the_file_is_not(store: BudgetStore, path: Path) -> None:
    pickled = pickle.dumps(store)
    path.unlink()
    elsewhere = pickle.loads(pickled)
    with pytest.raises(BudgetStoreError, match="there is no such file"):
        elsewhere.charge(0.1, purpose="model")
    assert not path.exists()


def test_it_is_the_same_file_from_another_folder_and_by_another_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = BudgetStore.create("here.db", 1)
    (tmp_path / "link.db").symlink_to("here.db")
    (tmp_path / "there").mkdir()
    monkeypatch.chdir(tmp_path / "there")
    store.charge(0.25, purpose="model")
    BudgetStore("../link.db").charge(0.25, purpose="model")
    assert store.remaining == Fraction(1, 2)


@pytest.mark.parametrize("name", ["a b.db", "100%25?.db", "#?mode=memory", ":memory:", "é\udcff"])
def test_any_file_name(tmp_path: Path, name: str) -> None:
    BudgetStore.create(tmp_path / name, 1).charge(0.5, purpose="model")
    assert BudgetStore(tmp_path / name).remaining == Fraction(1, 2)
    assert os.listdir(tmp_path) == [name]


@FORKS
def test_a_fork_is_the_same_account_and_a_charge_outlives_its_process(store: BudgetStore) -> None:
    store.charge(0.25, purpose="parent")
    assert in_a_fork(lambda: store.charge(0.5, purpose="child")) == 0
    assert [charge.purpose for charge in store.charges] == ["parent", "child"]
    with pytest.raises(BudgetExceededError):
        store.charge(0.5, purpose="parent")


# --- together -----------------------------------------------------------------------------------


def charge_in_two_transactions(
    self: BudgetStore, epsilon: float, *, purpose: str, neighbours: str = "add-remove"
) -> None:
    """Mutant: looks first, charges later."""
    amount = Fraction(repr(epsilon))
    budget_store.check_budget_covers(self.read(), amount, Fraction(0), purpose)
    with budget_file.open_budget_file(self.path, writing=True) as connection:
        account = budget_file.read_budget_account(self.path, connection)
        budget_tables.add_charge_to_budget_file(
            connection, account, amount, Fraction(0), purpose, ""
        )


def charge_after_a_deferred_look(
    self: BudgetStore, epsilon: float, *, purpose: str, neighbours: str = "add-remove"
) -> None:
    """Mutant: one transaction, but it lets others look until it writes."""
    with budget_file.open_budget_file(self.path, writing=False) as connection:
        account = budget_file.read_budget_account(self.path, connection)
        amounts = Fraction(repr(epsilon)), Fraction(0)
        budget_store.check_budget_covers(account, *amounts, purpose)
        budget_tables.add_charge_to_budget_file(connection, account, *amounts, purpose, "")


def charge_from_memory(
    self: BudgetStore, epsilon: float, *, purpose: str, neighbours: str = "add-remove"
) -> None:
    """Mutant: the balance is what this object knows."""
    amount = Fraction(repr(epsilon))
    known = vars(self).setdefault("known", Budget(self.epsilon))
    budget_store.check_budget_covers(known, amount, Fraction(0), purpose)
    known.charge(amount, purpose=purpose)
    with budget_file.open_budget_file(self.path, writing=True) as connection:
        account = budget_file.read_budget_account(self.path, connection)
        budget_tables.add_charge_to_budget_file(
            connection, account, amount, Fraction(0), purpose, ""
        )


def spent_by_two_at_once(
    store: BudgetStore, monkeypatch: pytest.MonkeyPatch, patience: float = 600.0
) -> list[str]:
    """Two charges of .6 of 1; each waits, once it was found to be covered, for the other."""
    covered = threading.Barrier(2)
    check = budget_store.check_budget_covers

    def check_and_wait(*arguments: Any) -> None:
        check(*arguments)
        with suppress(threading.BrokenBarrierError):
            covered.wait(timeout=patience)

    def charge(handle: BudgetStore) -> str:
        try:
            handle.charge(0.6, purpose="model")
        except (BudgetExceededError, BudgetStoreError) as error:
            return type(error).__name__
        return "charged"

    with monkeypatch.context() as patch:
        patch.setattr(budget_store, "check_budget_covers", check_and_wait)
        with ThreadPoolExecutor(2) as pool:
            return sorted(pool.map(charge, [store, BudgetStore(store.path)]))


@pytest.mark.slow
def test_two_at_once_cannot_overspend(store: BudgetStore, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = spent_by_two_at_once(store, monkeypatch, patience=0.3)
    assert outcomes == ["BudgetExceededError", "charged"]
    assert store.remaining == Fraction(2, 5)


@pytest.mark.parametrize("mutant", [charge_in_two_transactions, charge_from_memory])
def test_mutants_that_overspend_are_caught(
    store: BudgetStore, monkeypatch: pytest.MonkeyPatch, mutant: Callable[..., None]
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(BudgetStore, "charge", mutant)
        assert spent_by_two_at_once(store, monkeypatch) == ["charged", "charged"]
    with pytest.raises(BudgetStoreError, match="charges add up to more than its epsilon"):
        store.read()


def test_a_mutant_that_lets_others_look_while_it_charges_is_caught(
    store: BudgetStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite refuses one of the two for being busy, so neither order of them is told the truth."""
    with monkeypatch.context() as patch:
        patch.setattr(budget_file, "PATIENCE", 0.2)
        patch.setattr(BudgetStore, "charge", charge_after_a_deferred_look)
        assert "BudgetStoreError" in spent_by_two_at_once(store, monkeypatch)


def test_many_threads_cannot_overspend(store: BudgetStore) -> None:
    def charge(_: int) -> bool:
        try:
            store.charge(0.15, purpose="model")
        except BudgetExceededError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(charge, range(16))) == 6
    assert store.remaining == Fraction(1, 10)


def test_who_waits_too_long_is_told(store: BudgetStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget_file, "PATIENCE", 0.05)
    with raw(store.path) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(BudgetStoreError, match=r"locked the file for too long\. Try again"):
            store.charge(0.1, purpose="model")
        assert store.remaining == 1, "others may look"
        other.execute("ROLLBACK")
    store.charge(0.1, purpose="model")


# --- crashes ------------------------------------------------------------------------------------

MOMENTS = {
    "before BEGIN": 0,
    "after BEGIN": 0,
    "after INSERT": 0,
    "before COMMIT": 0,
    "after COMMIT": 1,
    "after the charge": 1,
}


def charge_and_die(store: BudgetStore, moment: str) -> None:
    class Dying(sqlite3.Connection):
        def execute(self, sql: str, *rest: Any) -> sqlite3.Cursor:
            if moment == f"before {sql.split()[0]}":
                os._exit(9)
            done = super().execute(sql, *rest)
            if moment == f"after {sql.split()[0]}":
                os._exit(9)
            return done

    connect = sqlite3.connect
    sqlite3.connect = lambda *a, **k: connect(*a, **k, factory=Dying)  # in this process only
    store.charge(0.25, purpose="model")
    os._exit(9)


def committing_late(path: Path, *, writing: bool) -> Any:
    """Mutant of `open_budget_file`: the charge is committed when somebody closes the file."""
    connection = budget_file._connect_to_budget_file(path)
    connection.execute("BEGIN IMMEDIATE")
    LATER.append(connection)
    return nullcontext(connection)


LATER: list[sqlite3.Connection] = []


@FORKS
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_charge_is_there_once_it_is_made_and_not_before(store: BudgetStore, moment: str) -> None:
    assert in_a_fork(lambda: charge_and_die(store, moment)) == 9
    charges = MOMENTS[moment]
    assert len(store.charges) == charges
    store.charge(0.5, purpose="next")
    assert [charge.number for charge in store.charges] == list(range(1, charges + 2))
    assert os.listdir(store.path.parent) == ["patients.db"]


@FORKS
def test_a_mutant_that_commits_later_is_caught(
    store: BudgetStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(budget_store, "open_budget_file", committing_late)
        assert in_a_fork(lambda: charge_and_die(store, "after the charge")) == 9
    assert len(store.charges) == MOMENTS["after the charge"] - 1


@FORKS
def test_what_a_killed_process_left_half_written_is_undone(store: BudgetStore) -> None:
    """Its pages are in the file, and its journal beside it."""

    def write_and_die() -> None:
        connection = sqlite3.connect(store.path, isolation_level=None)
        connection.execute("PRAGMA cache_size = 1")  # so that pages are written before the end
        connection.execute("BEGIN IMMEDIATE")
        for number in range(2, 60):
            row = (number, "x" * 2000)
            connection.execute("INSERT INTO charge VALUES (?, '', '', '', ?, '')", row)
        os._exit(9)

    store.charge(0.25, purpose="first")
    before = store.path.read_bytes()
    assert in_a_fork(write_and_die) == 9
    assert (store.path.parent / "patients.db-journal").exists()
    assert store.path.read_bytes() != before
    assert store.remaining == Fraction(3, 4)
    assert store.path.read_bytes() == before
    assert os.listdir(store.path.parent) == ["patients.db"]


def test_every_charge_is_written_to_the_disk_and_its_folder_too(
    store: BudgetStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is asked of SQLite: 3 is EXTRA, and no charge waits in a file of its own."""
    settings = []
    add = budget_tables.add_charge_to_budget_file

    def look(connection: sqlite3.Connection, *rest: Any) -> None:
        for name in ("synchronous", "journal_mode"):
            settings.append(connection.execute(f"PRAGMA {name}").fetchone()[0])
        assert connection.in_transaction
        add(connection, *rest)

    monkeypatch.setattr(budget_store, "add_charge_to_budget_file", look)
    store.charge(0.1, purpose="model")
    assert settings == [3, "delete"]


def test_a_store_whose_charges_would_be_in_a_second_file_is_refused(store: BudgetStore) -> None:
    with raw(store.path) as other:
        other.execute("PRAGMA journal_mode = WAL")
    assert refusal(store.path).startswith("was switched to SQLite's journal mode wal, in which")
    with raw(store.path) as other:
        other.execute("PRAGMA journal_mode = DELETE")
    store.charge(0.25, purpose="model")
    moved = store.path.rename(store.path.parent / "moved.db")
    assert BudgetStore(moved).remaining == Fraction(3, 4)
    assert os.listdir(store.path.parent) == ["moved.db"]


@pytest.fixture(scope="module")
def stress() -> Any:
    file = ROOT / "benchmarks" / "budget_store_stress.py"
    spec = importlib.util.spec_from_file_location("budget_store_stress", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look themselves up
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@FORKS
def test_processes_that_are_killed_at_random(tmp_path: Path, stress: Any) -> None:
    """A short version of the benchmark; and what it compares would show faults."""
    report = stress.stress(tmp_path, 0.1, processes=4, seconds=2.0, seed=0)
    assert report.faults == []
    assert report.kills > 5
    assert report.charges > 0

    def faults() -> list[str]:
        found = stress.Report()
        stress.check(tmp_path / "budget.db", tmp_path, found, at_least=report.charges)
        return sorted({fault.split(" of model")[0] for fault in found.faults})

    assert faults() == []
    (tmp_path / "more.log").write_text("announced a 0.001 1e-09\nconfirmed a 0.001 1e-09\n")
    assert faults() == ["the confirmed charge"]
    (tmp_path / "more.log").unlink()
    first = BudgetStore(tmp_path / "budget.db").charges[0]
    for log in tmp_path.glob("*.log"):  # another delta than in the file
        told = f"{first.purpose} {float(first.epsilon)!r} "
        log.write_text(log.read_text().replace(told, f"{told}9"))
    assert "the charge" in faults()
    for log in tmp_path.glob("*.log"):
        log.write_text(log.read_text().replace("announced", "refused"))
    assert "the charge" in faults()
    assert any(fault.endswith("was refused, but charged") for fault in faults())


# --- files that are not a budget, or no longer --------------------------------------------------


def refusal(path: Path) -> str:
    """The same whether it is opened, read or charged; nothing changes."""
    handle = BudgetStore.__new__(BudgetStore)
    handle.path, handle.note = path, ""
    before = path.read_bytes() if path.is_file() else None
    messages = set()
    for use in (
        lambda: BudgetStore(path),
        lambda: handle.remaining,
        lambda: handle.charge(Fraction(1, 10**9), purpose="model"),
    ):
        with pytest.raises(BudgetStoreError) as caught:
            use()
        messages.add(str(caught.value))
    assert (path.read_bytes() if path.is_file() else None) == before
    (message,) = messages
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


def test_a_missing_file_is_never_made(path: Path) -> None:
    assert refusal(path) == (
        "there is no such file. If a budget was created for these records, find its file: a new "
        "file would forget what was spent. Otherwise run privatree budget create."
    )
    assert os.listdir(path.parent) == []


def test_a_file_that_vanishes_while_it_is_opened_is_not_made_anew(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os.path, "exists", lambda _: True)
    monkeypatch.setattr(os.path, "isfile", lambda _: True)
    with pytest.raises(BudgetStoreError, match="cannot be opened"):
        BudgetStore(path)
    assert os.listdir(path.parent) == []


def test_what_is_there_is_never_overwritten(store: BudgetStore, tmp_path: Path) -> None:
    store.charge(0.5, purpose="model")
    with pytest.raises(BudgetStoreError, match="exists already"):
        BudgetStore.create(store.path, 10)
    assert store.remaining == Fraction(1, 2)
    (tmp_path / "notes.txt").write_text("important")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    for name, refused in (("notes.txt", "exists already"), (".", "is a folder")):
        with pytest.raises(BudgetStoreError, match=refused):
            BudgetStore.create(tmp_path / name, 1)
    assert (tmp_path / "notes.txt").read_text() == "important"
    with pytest.raises(BudgetStoreError, match="there is no folder"):
        BudgetStore.create(tmp_path / "no" / "a.db", 1)


def test_of_several_who_create_one_does(path: Path) -> None:
    def create(cap: int) -> bool:
        try:
            BudgetStore.create(path, cap)
        except BudgetStoreError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        created = list(pool.map(create, range(1, 9)))
    assert sum(created) == 1
    assert BudgetStore(path).epsilon == 1 + created.index(True)


@pytest.mark.parametrize("stopped", ["INSERT", "COMMIT", "CREATE TRIGGER"])
def test_a_creation_that_fails_leaves_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch, stopped: str
) -> None:
    class Full(sqlite3.Connection):
        def execute(self, sql: str, *rest: Any) -> sqlite3.Cursor:
            if sql.startswith(stopped):
                raise sqlite3.OperationalError("no luck")
            return super().execute(sql, *rest)

    connect = sqlite3.connect
    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, **k, factory=Full))
        with pytest.raises(BudgetStoreError, match="no luck"):
            BudgetStore.create(path, 1)
    assert os.listdir(path.parent) == []
    BudgetStore.create(path, 1)


def test_files_of_other_kinds(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    assert refusal(tmp_path / "folder") == "is not a file. Pass the path of a budget file."
    (tmp_path / "empty.db").touch()
    assert refusal(tmp_path / "empty.db") == (
        "is empty. If its creation was interrupted, delete it and create it again."
    )
    for content in (b"a,b\n1,2\n", b"x" * 5000, b"SQLite format 3\0" + b"\0" * 5000):
        (tmp_path / "some.csv").write_bytes(content)
        assert refusal(tmp_path / "some.csv") == (
            "is not a budget of privatree, or is damaged. If damaged, restore the file from a "
            "backup, and charge again what was spent since then."
        )
    for mode in ("DELETE", "WAL"):
        other = tmp_path / f"other-{mode}.db"
        with raw(other) as connection:
            connection.execute(f"PRAGMA journal_mode = {mode}")
            connection.execute("CREATE TABLE charge (number INTEGER PRIMARY KEY)")
        assert refusal(other) == (
            "is a SQLite database, but not a budget of privatree. Pass the path of a budget file; "
            "privatree budget create makes one."
        )
    os.mkfifo(tmp_path / "pipe")
    assert refusal(tmp_path / "pipe") == "is not a file. Pass the path of a budget file."


def test_a_later_version_is_not_guessed_at(store: BudgetStore) -> None:
    with raw(store.path) as connection:
        connection.execute("PRAGMA user_version = 4")
    assert refusal(store.path) == (
        "is a budget of version 4; this privatree reads versions 1 to 3. "
        "Upgrade privatree to read a later version."
    )


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE charge SET epsilon = '1/1000'",
        "DELETE FROM charge WHERE number = 1",
        "INSERT OR REPLACE INTO charge VALUES (1, '', '', '1/1000', '', '')",
        "INSERT INTO charge VALUES (9, '', '', '1/1000', '', '')",
        "INSERT INTO charge VALUES (-1, '', '', '1/1000', '', '')",
        "UPDATE account SET epsilon = '1000/1'",
        "DELETE FROM account",
        "INSERT OR REPLACE INTO account VALUES (1, '', '1000/1', 'add-remove', '', '')",
        "INSERT INTO account VALUES (2, '', '1000/1', 'add-remove', '', '')",
    ],
)
def test_charges_are_only_added(store: BudgetStore, statement: str) -> None:
    """By SQLite itself; and what is done without its triggers is noticed."""
    store.charge(0.25, purpose="first")
    store.charge(0.25, purpose="second")
    with raw(store.path) as connection, pytest.raises(sqlite3.IntegrityError):
        connection.execute(statement)
    assert store.remaining == Fraction(1, 2)
    with raw(store.path) as connection:
        found = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        triggers = connection.execute(found).fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
    assert refusal(store.path).startswith("is damaged (it does not have the tables of a budget).")
    with raw(store.path) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(statement)
        for _, sql in triggers:
            connection.execute(sql)
    assert refusal(store.path).startswith("is damaged (")


@pytest.mark.parametrize(
    ("amounts", "message"),
    [
        (["1/2", "1/2", "1/1000"], "its charges add up to more than its epsilon"),
        (["-1/2"], "an epsilon is not a positive fraction"),
        (["0/1"], "an epsilon is not a positive fraction"),
        (["1/0"], "an epsilon is not a positive fraction"),
        (["0.5"], "an epsilon is not a positive fraction"),
        ([f"1/{10**999}"], "an epsilon is not a positive fraction"),
        (["9" * 5000 + "/1"], "an epsilon is not a positive fraction"),
        ([b"1/2"], "an epsilon is not a positive fraction"),
    ],
    ids=lambda value: str(value)[:12],
)
def test_rows_that_no_charge_writes_are_refused(
    store: BudgetStore, amounts: list[Any], message: str
) -> None:
    """Even if somebody took pains to give them their digest."""
    with raw(store.path) as connection:
        (digest,) = connection.execute("SELECT digest FROM account").fetchone()
        for number, amount in enumerate(amounts, start=1):
            row = (number, "2030-01-01T00:00:00+00:00", "model", amount, "")
            digest = budget_tables.budget_row_digest(digest, row)
            connection.execute("INSERT INTO charge VALUES (?, ?, ?, ?, ?, ?)", (*row, digest))
    assert refusal(store.path) == (
        f"is damaged ({message}). Restore the file from a backup, and charge again what was spent "
        "since then."
    )


@pytest.fixture(scope="module", params=[0, 1e-4], ids=["without delta", "with delta"])
def written(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> tuple[bytes, Any]:
    path = tmp_path_factory.mktemp("written") / "a.db"
    store = BudgetStore.create(path, 1, delta=request.param, dataset="patients")
    for turn in range(30):
        store.charge(0.01, delta=request.param / 64, purpose=f"model {turn}")
    return path.read_bytes(), store.read()


def reading(path: Path, content: bytes) -> Any:
    path.write_bytes(content)
    try:
        return BudgetStore(path).read()
    except BudgetStoreError as error:
        message = str(error)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    assert "damaged" in message or "not a budget" in message or len(message) < len(str(path)) + 80
    return None


@pytest.mark.slow
def test_a_damaged_file_is_refused_or_read_as_it_was(
    path: Path, written: tuple[bytes, Any]
) -> None:
    """Never as if less had been spent, whichever bytes are wrong."""
    content, account = written
    rng = random.Random(0)
    outcomes = []
    for _ in range(250):
        damaged = bytearray(content)
        if rng.random() < 0.7:
            damaged[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        else:
            start = rng.randrange(len(content))
            for place in range(start, min(len(content), start + rng.choice([2, 16, 512, 4096]))):
                damaged[place] = rng.choice([0, rng.randrange(256)])
        found = reading(path, bytes(damaged))
        outcomes.append(found)
        assert found is None or found == account
    assert 25 < outcomes.count(None) < 225


def test_a_last_charge_that_its_page_forgot_is_noticed(store: BudgetStore) -> None:
    """All that is left is as it was written: only SQLite's own count of bytes tells."""
    for _ in range(3):
        store.charge(0.25, purpose="model")
    with raw(store.path) as connection:
        where = "SELECT rootpage FROM sqlite_master WHERE name = 'charge'"
        (page,) = connection.execute(where).fetchone()
    content = bytearray(store.path.read_bytes())
    n_cells = slice((page - 1) * 4096 + 3, (page - 1) * 4096 + 5)
    assert content[n_cells] == bytes([0, 3])
    content[n_cells] = bytes([0, 2])
    store.path.write_bytes(content)
    assert refusal(store.path).startswith("is damaged (SQLite reports inconsistent pages).")


def test_a_truncated_file_is_refused(path: Path, written: tuple[bytes, Any]) -> None:
    content, account = written
    assert reading(path, content) == account
    cuts = {0, 1, 15, 16, 99, 100, 4095, 4096, 8192, len(content) - 4096, len(content) - 1}
    for cut in cuts | set(random.Random(0).sample(range(len(content)), 50)):
        assert reading(path, content[:cut]) is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_what_may_not_be_written_can_be_read_but_not_charged(store: BudgetStore) -> None:
    store.path.chmod(0o444)
    assert store.remaining == 1
    with pytest.raises(BudgetStoreError, match="The file and its folder must be writable"):
        store.charge(0.5, purpose="model")
    store.path.chmod(0o644)
    store.path.parent.chmod(0o555)
    with pytest.raises(BudgetStoreError, match="writable"):
        store.charge(0.5, purpose="model")
    with pytest.raises(BudgetStoreError, match=r"cannot be created \(Permission denied\)"):
        BudgetStore.create(store.path.parent / "b.db", 1)
    store.path.parent.chmod(0o755)
    assert store.remaining == 1


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (sqlite3.SQLITE_FULL, "the disk is full. Free some space."),
        (
            sqlite3.SQLITE_READONLY | 1 << 8,
            "is read-only. The file and its folder must be writable.",
        ),
        (sqlite3.SQLITE_CANTOPEN, "cannot be opened. The file and its folder must be writable."),
        (sqlite3.SQLITE_IOERR, "cannot be used (no luck)."),
    ],
)
def test_failures_are_one_line_and_nothing_is_charged(
    store: BudgetStore, monkeypatch: pytest.MonkeyPatch, code: int, message: str
) -> None:
    def fail(*_: Any) -> None:
        error = sqlite3.OperationalError("no luck")
        error.sqlite_errorcode = code
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(budget_store, "add_charge_to_budget_file", fail)
        with pytest.raises(BudgetStoreError) as caught:
            store.charge(0.5, purpose="model")
    assert str(caught.value) == f"{store.path}: {message}"
    assert store.remaining == 1


def test_the_library_loads_no_database_until_it_is_needed() -> None:
    code = (
        "import sys, privatree.privacy; print('sqlite3' in sys.modules); "
        "privatree.privacy.BudgetStore; print('sqlite3' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\nTrue\n"


def test_a_second_name_is_refused(tmp_path):
    """A journal that a killed process left goes by the name of its file."""
    store = BudgetStore.create(tmp_path / "a.db", 1.0)
    os.link(tmp_path / "a.db", tmp_path / "b.db")
    for path in (tmp_path / "a.db", tmp_path / "b.db"):
        with pytest.raises(BudgetStoreError, match="has a second name"):
            BudgetStore(path)
    with pytest.raises(BudgetStoreError, match="has a second name"):
        store.charge(0.1, purpose="model")
    (tmp_path / "b.db").unlink()
    assert store.remaining == 1


# --- units --------------------------------------------------------------------------------------


def test_a_store_keeps_its_unit_and_refuses_others(tmp_path: Path) -> None:
    for mine, its in ((None, "patient_id"), ("patient_id", None), ("patient_id", "visit_id")):
        store = BudgetStore.create(tmp_path / f"{mine}-{its}", 1, unit=mine)
        with pytest.raises(ParameterError, match=r"cannot be added up\. Nothing was drawn"):
            store.charge(0.25, purpose="model", unit=its)
        assert store.charges == []
        store.charge(0.25, purpose="model", unit=mine)
        assert BudgetStore(store.path).unit == mine
        assert store.remaining == Fraction(3, 4)


def test_a_store_of_records_is_a_file_that_older_versions_read(store: BudgetStore) -> None:
    """A store of units is not: they would charge it for records."""
    units = BudgetStore.create(store.path.with_name("units.db"), 1, unit="patient_id")
    for path, version, columns in ((store.path, 1, 6), (units.path, 2, 7)):
        with raw(path) as connection:
            assert next(connection.execute("PRAGMA user_version")) == (version,)
            assert len(next(connection.execute("SELECT * FROM account"))) == columns


def test_a_store_of_units_cannot_be_made_one_of_records(tmp_path: Path) -> None:
    store = BudgetStore.create(tmp_path / "units.db", 1, unit="patient_id")
    with raw(store.path) as connection:
        connection.execute("DROP TRIGGER account_stays")
        connection.execute("UPDATE account SET unit = 'visit_id'")
        connection.execute(next(s for s in budget_tables.DEFINITIONS[2] if "account_stays" in s))
    assert "is damaged" in refusal(store.path)
    other = BudgetStore.create(tmp_path / "other.db", 1, unit="patient_id")
    with raw(other.path) as connection:
        connection.execute("PRAGMA user_version = 1")
    assert "does not have the tables of a budget" in refusal(other.path)


def test_a_unit_without_a_printable_name_makes_no_file(path: Path) -> None:
    with pytest.raises(ParameterError, match="unit must be the name of a unit"):
        BudgetStore.create(path, 1, unit="a\nb")
    assert not path.exists()
