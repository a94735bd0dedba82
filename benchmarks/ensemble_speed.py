"""Training speed, memory and growth in rows of private ensembles, as ratios to peers.

    python benchmarks/ensemble_speed.py [--rows 1000000] [--repeats 3] [--skip-peers]
        [--json figures.json]

The rows are those of ``benchmarks/speed.py``. Ours has 100 rounds of depth 2 at epsilon 1, LightGBM
100 rounds of depth 2 and of depth 3, and DP-EBM its defaults, all with two threads. They train in
this process, in turn, each once on few rows before the clock starts. Medians, and ratios to ours in
the same run. Peers that are not installed are left out; ``make bench`` installs them.

Memory is the peak of a new process during the fit above what it held before, in bytes of the
input. Growth is the time of a row, relative to that of the smallest number of rows.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from privatree import PrivaBoostClassifier, Schema, datasets
from privatree.baselines.methods import Training, get
from result_files import add_json_option, write_result
from speed import in_turn, kibibytes, make_rows, schema_of

EPSILON, N_ROUNDS = 1.0, 100
FEW = 30_000


def ours(schema: Schema) -> PrivaBoostClassifier:
    return PrivaBoostClassifier(EPSILON, rounds=N_ROUNDS, schema=schema, random_state=0)


def learners(schema: Schema, skip: bool) -> dict[str, Callable[[], Any]]:
    found: dict[str, Callable[[], Any]] = {"privaboost": lambda: ours(schema)}
    if not skip and find_spec("lightgbm"):
        from lightgbm import LGBMClassifier

        for depth in (2, 3):
            found[f"LightGBM, depth {depth}"] = lambda depth=depth: LGBMClassifier(
                n_estimators=N_ROUNDS, max_depth=depth, num_leaves=2**depth, n_jobs=2, verbose=-1
            )
    if not skip and find_spec("interpret"):
        ebm = get("dp-ebm")
        found["DP-EBM"] = lambda: ebm.classifier(Training(schema, EPSILON, max_depth=2, seed=0))
    return found


def compare(rows: int, repeats: int, skip: bool) -> list[dict[str, Any]]:
    X, y, schema = make_rows(rows)
    makers = learners(schema, skip)
    for make in makers.values():  # so that everything is compiled
        make().fit(X[:FEW], y[:FEW])
    found = in_turn({n: lambda m=make: m().fit(X, y) for n, make in makers.items()}, repeats)
    print(f"fit, {rows:,} x {X.shape[1]} rows, {N_ROUNDS} rounds, median of {repeats}, in turn")
    for name, seconds in found.items():
        ratio = found["privaboost"] / seconds
        print(f"  {name:22s}{seconds:9.3f} s   privaboost / it = {ratio:.2f}")
    memory(X, y)
    return [{"learner": name, "fit_seconds": seconds} for name, seconds in found.items()]


def memory(X: np.ndarray, y: np.ndarray) -> None:
    with tempfile.TemporaryDirectory() as folder:
        np.savez(path := Path(folder, "rows.npz"), X=X, y=y)
        command = [sys.executable, __file__, "--memory-of", str(path)]
        before, peak = map(int, subprocess.check_output(command).split())
    held = (peak - before) * 1024
    print(f"memory of a fit in a new process: {held / X.nbytes:.2f} x the input")


def measure_memory(path: str) -> None:
    """Print the KiB that this new process holds before the fit, and its peak during the fit."""
    with np.load(path) as arrays:
        X, y = arrays["X"], arrays["y"]
    schema = schema_of(X)
    ours(schema).fit(X[:FEW], y[:FEW])
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak starts anew
    before = kibibytes("VmRSS")
    ours(schema).fit(X, y)
    print(before, kibibytes("VmHWM"))


def growth(rows: int, repeats: int) -> None:
    X, y, schema = make_rows(2 * rows)
    sizes = [rows // 4, rows // 2, rows, 2 * rows]
    calls = {str(n): lambda n=n: ours(schema).fit(X[:n], y[:n]) for n in sizes}
    found = in_turn(calls, repeats)
    print("growth in rows")
    for n in sizes:
        relative = found[str(n)] / n / (found[str(sizes[0])] / sizes[0])
        print(f"  {n:>9,} rows{found[str(n)]:9.3f} s   a row, to the first: {relative:.2f}")


def adult() -> None:
    frame, labels, schema = datasets.load("adult")
    model = PrivaBoostClassifier(EPSILON, schema=schema, random_state=0)
    seconds = in_turn({"adult": lambda: model.fit(frame, labels)}, 5)["adult"]
    print(f"adult, {model.ensemble_.n_rounds} rounds, median of 5: {seconds:.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--skip-peers", action="store_true")
    add_json_option(parser)
    parser.add_argument("--memory-of", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.memory_of:
        measure_memory(arguments.memory_of)
        return
    figures = compare(arguments.rows, arguments.repeats, arguments.skip_peers)
    growth(arguments.rows, arguments.repeats)
    adult()
    write_result(arguments.json, figures, "rows are made with seed 0; random_state 0")


if __name__ == "__main__":
    main()
