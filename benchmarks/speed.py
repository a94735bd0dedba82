"""Training and prediction speed, memory and growth in rows of the record-level learner.

    python benchmarks/speed.py [--rows 1000000] [--repeats 3] [--data-dir DIR] [--skip-peers]
        [--json figures.json]

Numbers x 24 single-precision rows, half of the columns skewed, depth 4, epsilon .1, ranges given.
All learners train and predict in this process, in turn, on the same rows, each once before the
clock starts, so that everything is compiled. Medians, and ratios to scikit-learn in the same run.
Peers that are not installed are left out; ``make bench`` installs them.

Memory is the peak of a new process during the fit above what it held before, in bytes of the
input. DIR may hold mnist01.npz (X, y: MNIST's zeros and ones).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from privatree import Numeric, PrivaTreeClassifier, Schema, datasets
from result_files import add_json_option, write_result

N_FEATURES = 24
EPSILON = 0.1


def make_rows(n: int) -> tuple[np.ndarray, np.ndarray, Schema]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, N_FEATURES), dtype=np.float32)
    half = N_FEATURES // 2
    np.exp(X[:, half:], out=X[:, half:])  # skewed, as base_measure and incomes are
    y = (X[:, 0] + X[:, 1] * X[:, -1] + rng.standard_normal(n) > 0).astype(np.int64)
    return X, y, schema_of(X)


def schema_of(X: np.ndarray) -> Schema:
    ranges = zip(X.min(axis=0).tolist(), X.max(axis=0).tolist(), strict=True)
    return Schema({f"x{j}": Numeric(low, high) for j, (low, high) in enumerate(ranges)}, [0, 1])


def ours(schema: Schema, **parameters: Any) -> PrivaTreeClassifier:
    return PrivaTreeClassifier(EPSILON, schema=schema, random_state=0, **parameters)


def peers(schema: Schema) -> dict[str, Callable[[], Any]]:
    """Return a constructor for each installed peer, and print which peers are not installed."""
    found: dict[str, Callable[[], Any]] = {}
    try:
        from lightgbm import LGBMClassifier
    except ImportError:
        print("LightGBM is not installed: left out")
    except OSError as error:
        print(f"LightGBM needs the system library libgomp (Debian: libgomp1): left out ({error})")
    else:
        found["LightGBM, one tree"] = lambda: LGBMClassifier(
            n_estimators=1, max_bin=32, num_leaves=16, n_jobs=2, verbose=-1
        )
    try:
        import diffprivlib
        from diffprivlib.models import DecisionTreeClassifier as RandomTree
    except ImportError as error:
        print(f"diffprivlib is not installed, or not for this scikit-learn: left out ({error})")
    else:
        low = np.array([feature.low for feature in schema.features.values()])
        high = np.array([feature.high for feature in schema.features.values()])
        found[f"diffprivlib {diffprivlib.__version__}"] = lambda: RandomTree(
            epsilon=EPSILON, max_depth=4, bounds=(low, high), classes=[0, 1], random_state=0
        )
    return found


def in_turn(calls: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Return the median seconds of each call; a first round is not counted."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats + 1):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - start)
    return {name: median(found[1:]) for name, found in times.items()}


def compare(
    X: np.ndarray, y: np.ndarray, schema: Schema, repeats: int, skip: bool
) -> list[dict[str, Any]]:
    """Print the seconds of each learner, and return them with the ratio to ours."""
    learners: dict[str, Callable[[], Any]] = {
        "scikit-learn": lambda: DecisionTreeClassifier(max_depth=4, random_state=0),
        "privatree": lambda: ours(schema),
    } | ({} if skip else peers(schema))
    fitted: dict[str, Any] = {}

    def fit(name: str) -> None:
        fitted[name] = learners[name]().fit(X, y)

    def predict(name: str) -> None:
        fitted[name].predict(X)

    figures: dict[str, dict[str, Any]] = {name: {"learner": name} for name in learners}
    for what, call in {"fit": fit, "predict": predict}.items():
        found = in_turn({name: lambda n=name, c=call: c(n) for name in learners}, repeats)
        print(f"{what}, {len(X):,} x {N_FEATURES} rows, median of {repeats}, in turn")
        for name, seconds in found.items():
            ratio = found["privatree"] / seconds
            print(f"  {name:22s}{seconds:9.3f} s   privatree / it = {ratio:.2f}")
            figures[name] |= {f"{what}_seconds": seconds, f"{what}_ratio": 1 / ratio}
    return list(figures.values())


# --- memory -------------------------------------------------------------------------------------


def memory(X: np.ndarray, y: np.ndarray) -> None:
    if not Path("/proc/self/status").exists():
        print("memory: measured on Linux only")
        return
    with tempfile.TemporaryDirectory() as folder:
        np.savez(path := Path(folder, "rows.npz"), X=X, y=y)
        command = [sys.executable, __file__, "--memory-of", str(path)]
        before, peak = map(int, subprocess.check_output(command).split())
    held = (peak - before) * 1024
    print(f"memory of a fit, {len(X):,} x {N_FEATURES} rows, in a new process")
    print(f"  {held / 2**20:.0f} MiB above the start = {held / X.nbytes:.2f} x the input")


def measure_memory(path: str) -> None:
    """Print the KiB that this new process holds before the fit, and its peak during the fit."""
    with np.load(path) as arrays:
        X, y = arrays["X"], arrays["y"]
    schema = schema_of(X)
    for lookahead in (1, "auto"):  # the code is compiled already: load it
        for epsilon in (EPSILON, EPSILON * len(X) / 2000):
            few = ours(schema, lookahead=lookahead).set_params(epsilon=epsilon)
            few.fit(X[:2000], y[:2000])
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak starts anew
    before = kibibytes("VmRSS")
    ours(schema).fit(X, y)
    print(before, kibibytes("VmHWM"))


def kibibytes(field: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1])


# --- growth and small tables --------------------------------------------------------------------


def growth(rows: int, repeats: int) -> None:
    X, y, schema = make_rows(2 * rows)
    sizes = [rows // 4, rows // 2, rows, 2 * rows]
    calls = {str(n): lambda n=n: ours(schema, lookahead=1).fit(X[:n], y[:n]) for n in sizes}
    found = in_turn(calls, repeats)
    print("fit with lookahead=1: growth in rows")
    for n in sizes:
        relative = found[str(n)] / n / (found[str(sizes[0])] / sizes[0])
        print(f"  {n:>9,} rows{found[str(n)]:9.3f} s   a row, to the first: {relative:.2f}")


def small_tables(data_dir: str | None) -> None:
    print("one warm fit, median of 5")
    for name in ("adult", "vote"):
        frame, labels, schema = datasets.load(name)
        show_fit(name, frame, labels, schema)
    path = Path(data_dir or ".", "mnist01.npz")
    if not path.exists():
        print("  mnist01 needs --data-dir with mnist01.npz: left out")
        return
    with np.load(path) as arrays:
        X, y = arrays["X"], arrays["y"]
    pixels = {f"pixel{j}": Numeric(0, 255, integer=True) for j in range(X.shape[1])}
    schema = Schema(pixels, [0, 1])
    show_fit("mnist01", X, y, schema)
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
    scores = [
        ours(schema).set_params(random_state=seed).fit(train, y_train).score(test, y_test)
        for seed in range(5)
    ]
    print(f"  mnist01 at epsilon {EPSILON}: accuracy on a fifth held out {np.mean(scores):.3f}")


def show_fit(name: str, X: Any, y: Any, schema: Schema) -> None:
    seconds = in_turn({name: lambda: ours(schema).fit(X, y)}, 5)[name]
    size = f"{X.shape[0]:,} x {X.shape[1]}"
    print(f"  {name:10s}{size:>14s}{seconds:9.3f} s")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--data-dir")
    parser.add_argument("--skip-peers", action="store_true")
    add_json_option(parser)
    parser.add_argument("--memory-of", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.memory_of:
        measure_memory(arguments.memory_of)
        return
    X, y, schema = make_rows(arguments.rows)
    figures = compare(X, y, schema, arguments.repeats, arguments.skip_peers)
    write_result(arguments.json, figures, "rows are made with seed 0; random_state 0")
    memory(X, y)
    del X, y
    growth(arguments.rows, arguments.repeats)
    small_tables(arguments.data_dir)


if __name__ == "__main__":
    main()
