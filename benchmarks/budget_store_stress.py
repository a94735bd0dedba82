"""Processes charge one budget file at the same time and are killed at random: nothing may go wrong.

    python benchmarks/budget_store_stress.py

Each process writes to a log of its own what it is about to charge, and what came of it. In the end,
and once a second on the way, the file is compared with the logs: the sums of its epsilons and of
its deltas are at most their caps, no charge that was confirmed is lost, none is there that nobody
announced or that was refused, and SQLite finds the file sound. The exit code is 1 if anything is
wrong.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from privatree.errors import BudgetExceededError
from privatree.privacy import BudgetStore

AMOUNTS = tuple(float(f"{digit}e-{place}") for digit in range(1, 8) for place in range(3, 9))
"""Of several sizes: when the large ones no longer fit, small ones do, so the cap stays close."""
DELTAS = (0.0, *(float(f"{amount}e-6") for amount in AMOUNTS if amount >= 1e-4))
"""Chosen independently of epsilon, so that some charges fit one cap and not the other."""
PAUSES = (0.0, 0.15)
"""Seconds between two kills, at random between these."""
FORKED = multiprocessing.get_context("fork")


@dataclass
class Report:
    """The outcome of a stress test, with all errors that were found."""

    charges: int = 0
    confirmed: int = 0
    refused: int = 0
    kills: int = 0
    unfinished: int = 0
    """Announced charges of which a killed process told no more."""
    of_these_charged: int = 0
    checks: int = 0
    faults: list[str] = field(default_factory=list)


def stress(folder: Path, cap: float, *, processes: int, seconds: float, seed: int) -> Report:
    """Let processes charge a new budget file for a while, and compare the file with their logs."""
    rng, report = random.Random(seed), Report()
    delta = min(cap * 1e-6, 0.5)
    store = BudgetStore.create(folder / "budget.db", cap, delta=delta, dataset="nobody's records")
    workers = [_started(store.path, folder, slot, 0) for slot in range(processes)]
    generations = [0] * processes
    end, next_check, before = time.monotonic() + seconds, 0.0, 0
    while time.monotonic() < end:
        time.sleep(rng.uniform(*PAUSES))
        slot = rng.randrange(processes)
        _kill(workers[slot], report)
        generations[slot] += 1
        workers[slot] = _started(store.path, folder, slot, generations[slot])
        if time.monotonic() > next_check:
            next_check = time.monotonic() + 1
            before = check(store.path, folder, report, at_least=before)
    for worker in workers:
        _kill(worker, report)
    check(store.path, folder, report, at_least=before)
    return report


def _started(path: Path, folder: Path, slot: int, generation: int) -> multiprocessing.Process:
    name = f"{slot}.{generation}"
    worker = FORKED.Process(target=charge_for_ever, args=(path, folder / f"{name}.log", name))
    worker.start()
    return worker


def _kill(worker: multiprocessing.Process, report: Report) -> None:
    if worker.exitcode is not None:
        report.faults.append(f"a process ended by itself with exit code {worker.exitcode}")
    os.kill(worker.pid, signal.SIGKILL)
    worker.join()
    report.kills += 1


def charge_for_ever(path: Path, log: Path, name: str) -> None:
    """Run in a process: log a charge, make the charge, log its outcome, and repeat."""
    rng, store = random.Random(name), BudgetStore(path)
    with open(log, "ab", buffering=0) as file:

        def tell(word: str, model: str, epsilon: float, delta: float) -> None:
            file.write(f"{word} {model} {epsilon!r} {delta!r}\n".encode())
            os.fsync(file.fileno())

        turn = 0
        while True:
            turn += 1
            model, amounts = f"{name}.{turn}", (rng.choice(AMOUNTS), rng.choice(DELTAS))
            tell("announced", model, *amounts)
            try:
                store.charge(amounts[0], delta=amounts[1], purpose=model)
            except BudgetExceededError:
                tell("refused", model, *amounts)
            else:
                tell("confirmed", model, *amounts)


def check(path: Path, folder: Path, report: Report, *, at_least: int) -> int:
    """Compare the budget file with the logs, and return its number of charges."""
    told = _told(folder)  # before the file: what was confirmed until then must be there
    account = BudgetStore(path).read()
    announced = _told(folder)["announced"]  # after it: what is there was announced until now
    charged = {charge.purpose: (charge.epsilon, charge.delta) for charge in account.charges}
    faults = report.faults
    if len(charged) < len(account.charges):
        faults.append("a model was charged twice")
    for place, (name, limit) in enumerate((("epsilon", account.epsilon), ("delta", account.delta))):
        if sum((amounts[place] for amounts in charged.values()), Fraction(0)) > limit:
            faults.append(f"the charges are more than the cap of {name}")
    if len(account.charges) < at_least:
        faults.append("there were more charges before")
    for model, amounts in told["confirmed"].items():
        if charged.get(model) != amounts:
            faults.append(f"the confirmed charge of model {model} is lost")
    for model in told["refused"].keys() & charged.keys():
        faults.append(f"model {model} was refused, but charged")
    for model, amounts in charged.items():
        if announced.get(model) != amounts:
            faults.append(f"the charge of model {model} was not announced")
    with closing(sqlite3.connect(path, timeout=60)) as connection:
        if connection.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
            faults.append("SQLite finds the file damaged")
    open_ends = announced.keys() - told["confirmed"].keys() - told["refused"].keys()
    report.charges, report.confirmed = len(account.charges), len(told["confirmed"])
    report.refused, report.unfinished = len(told["refused"]), len(open_ends)
    report.of_these_charged = len(open_ends & charged.keys())
    report.checks += 1
    return len(account.charges)


def _told(folder: Path) -> dict[str, dict[str, tuple[Fraction, ...]]]:
    told: dict[str, dict[str, tuple[Fraction, ...]]] = {
        "announced": {},
        "confirmed": {},
        "refused": {},
    }
    for log in folder.glob("*.log"):
        *lines, _ = log.read_text().split("\n")  # after the last end of line: nothing, or a part
        for line in lines:
            word, model, *amounts = line.split()
            told[word][model] = tuple(map(Fraction, amounts))
    return told


def fitting_cap(processes: int, seconds: float, seed: int) -> float:
    """One that refuses the first charges early, by a short trial: charges get slower with time."""
    with tempfile.TemporaryDirectory() as folder:
        trial = stress(Path(folder), 10**6, processes=processes, seconds=2.0, seed=seed)
    mean = sum(AMOUNTS) / len(AMOUNTS)
    return round(trial.charges / 2.0 * mean * seconds / 10, 6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--cap", type=float, help="by default nearly used up long before the end")
    parser.add_argument("--seed", type=int, default=0, help="of the times at which it kills")
    parser.add_argument(
        "--folder", type=Path, help="where, for instance /dev/shm: without a disk it is faster"
    )
    given = parser.parse_args()
    tempfile.tempdir = None if given.folder is None else str(given.folder)
    cap = given.cap or fitting_cap(given.processes, given.seconds, given.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        report = stress(
            folder, cap, processes=given.processes, seconds=given.seconds, seed=given.seed
        )
        account = BudgetStore(folder / "budget.db").read()
        size = (folder / "budget.db").stat().st_size
    print(f"{given.processes} processes, {given.seconds:g} s, {report.kills} killed")
    print(f"cap {float(account.epsilon):g}, left {float(account.remaining):.3g} after "
          f"{report.charges} charges, file of {size} bytes")  # fmt: skip
    print(f"cap of delta {float(account.delta):g}, left {float(account.remaining_delta):.3g}")
    print(f"confirmed {report.confirmed}, refused {report.refused}, cut off by a kill "
          f"{report.unfinished}, of which charged {report.of_these_charged}")  # fmt: skip
    print(f"compared with the logs {report.checks} times")
    for fault, times in Counter(report.faults).most_common(20):
        print(f"WRONG, {times} times: {fault}")
    print("nothing wrong" if not report.faults else "WRONG")
    sys.exit(bool(report.faults))


if __name__ == "__main__":
    main()
