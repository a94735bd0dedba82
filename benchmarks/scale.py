"""Training on files larger than memory and on a Spark cluster: rate, memory, growth in rows.

    python benchmarks/scale.py [--rows 1e6,1e7,1e8] [--folder DIR] [--spark ROWS] [--keep]
        [--json figures.json]

Rows of 20 features (10 normal, 4 whole, 3 skewed amounts with cents, 3 categories) and a label are
made on the spot as Parquet files of a million rows each, 94 bytes a row, in DIR or a temporary
folder, and deleted at the end unless --keep is given; 1e8 rows take 9.4 GB.

Each size is scanned by pyarrow (the same columns, all cores, nothing done with them), by its
scanner as it is and then tuned to its fastest, trained on with one level at a time (lookahead=1,
depth 4, epsilon .1: four passes, whatever the size) and scanned again, each in a process of its
own, all files read once before. The ratios are of the mean pass to the mean scan; up to ten million
rows the median of five trainings counts. Memory is the peak of the training process, libraries and
all.

--spark trains on ROWS rows on a standalone cluster of a master and two workers with one core each,
compares the tree with that of the stream, then trains again and kills one worker (SIGKILL, with its
executor) in the second pass, and reads a folder of which one file is cut short.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from privatree import Categorical, Numeric, PrivaTreeClassifier, Schema
from result_files import add_json_option, write_result

STEP = 1_000_000
CATEGORIES = [f"category {place}" for place in range(8)]
SCHEMA = Schema(
    {
        **{f"normal{place}": Numeric(-5, 5) for place in range(10)},
        **{f"whole{place}": Numeric(0, 99, integer=True) for place in range(4)},
        **{f"amount{place}": Numeric(0, 2000) for place in range(3)},
        **{f"kind{place}": Categorical(CATEGORIES) for place in range(3)},
    },
    [0, 1],
)


def make_file(path: Path, seed: int) -> None:
    """Write a million rows whose labels depend on the features."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {}
    for name in SCHEMA.features:
        if name.startswith("normal"):
            columns[name] = rng.standard_normal(STEP)
        elif name.startswith("whole"):
            columns[name] = rng.integers(0, 100, STEP, dtype=np.int32)
        elif name.startswith("amount"):
            columns[name] = np.round(rng.exponential(100, STEP), 2)
        else:
            codes = rng.integers(0, len(CATEGORIES), STEP, dtype=np.int8)
            columns[name] = pa.DictionaryArray.from_arrays(pa.array(codes), CATEGORIES)
    score = columns["normal0"] + columns["whole0"] / 50 + (columns["amount0"] > 150)
    columns["label"] = (score + rng.standard_normal(STEP) > 1.2).astype(np.int8)
    pq.write_table(pa.table(columns), path)


def make_files(folder: Path, n_rows: int) -> list[Path]:
    files = [folder / f"part-{place:05}.parquet" for place in range(-(-n_rows // STEP))]
    for place, file in enumerate(files):
        if not file.exists():
            make_file(file, place)
    return files


def learner() -> PrivaTreeClassifier:
    return PrivaTreeClassifier(0.1, schema=SCHEMA, lookahead=1, random_state=0)


# --- what a process of its own measures ---------------------------------------------------------


def scan(files: list[str], **ahead: int) -> dict[str, Any]:
    import pyarrow.dataset as ds

    start = time.perf_counter()
    scanner = ds.dataset(files).scanner(columns=[*SCHEMA.features, "label"], **ahead)
    n_rows = sum(batch.num_rows for batch in scanner.to_batches())
    return {"seconds": time.perf_counter() - start, "rows": n_rows}


def fastest_scan(files: list[str]) -> dict[str, Any]:
    """Scan with little read-ahead and reused memory, the fastest settings that we found."""
    tuned = {"batch_readahead": 4, "fragment_readahead": 1}
    return min((scan(files, **tuned) for _ in range(2)), key=lambda found: found["seconds"])


def train(files: list[str]) -> dict[str, Any]:
    from privatree.sources import ParquetSource

    learner().fit(ParquetSource(files[:1], target="label", progress=False))  # compiles
    source = ParquetSource(files, target="label", progress=False)
    answer, passes = source.answer, []

    def timed(question: Any) -> Any:
        start = time.perf_counter()
        found = answer(question)
        passes.append(time.perf_counter() - start)
        return found

    source.answer = timed  # type: ignore[method-assign]
    runs = []
    for _ in range(5 if len(files) <= 10 else 1):  # short ones vary
        passes.clear()
        start = time.perf_counter()
        model = learner().fit(source)
        runs.append((time.perf_counter() - start, list(passes)))
    seconds, of_passes = sorted(runs)[len(runs) // 2]
    return {
        "seconds": seconds,
        "passes": of_passes,
        "tree": model.model_.to_dict()["tree"],
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def in_a_process(what: str, files: list[Path]) -> dict[str, Any]:
    command = [sys.executable, __file__, "--measure", what, *map(str, files)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


# --- one machine --------------------------------------------------------------------------------


def stream(files: list[Path], n_rows: int) -> dict[str, Any]:
    """Print a row of the table, and return its figures."""
    chosen = files[: n_rows // STEP]
    in_a_process("scan", chosen)  # so that all find the files in the same place
    order = ("scan", "fastest", "train", "scan", "fastest")
    found = [(what, in_a_process(what, chosen)) for what in order]
    scanned, fastest = (
        sum(each["seconds"] for what, each in found if what == kind) / 2
        for kind in ("scan", "fastest")
    )
    (trained,) = (each for what, each in found if what == "train")
    mean = sum(trained["passes"]) / len(trained["passes"])
    size = sum(file.stat().st_size for file in chosen)
    print(
        f"| {n_rows:,} | {size / 1e9:.2f} GB | {scanned:.2f} s | {fastest:.2f} s | "
        f"{', '.join(f'{second:.2f}' for second in trained['passes'])} s | "
        f"{mean / scanned:.2f} | {mean / fastest:.2f} | {trained['seconds']:.1f} s | "
        f"{trained['peak'] / 2**20:.0f} MiB |",
        flush=True,
    )
    return {
        "rows": n_rows,
        "gigabytes": size / 1e9,
        "scan_seconds": scanned,
        "fastest_scan_seconds": fastest,
        "pass_seconds": trained["passes"],
        "pass_to_scan": mean / scanned,
        "pass_to_fastest_scan": mean / fastest,
        "seconds": trained["seconds"],
        "peak_mebibytes": trained["peak"] / 2**20,
    }


# --- a cluster ----------------------------------------------------------------------------------


def cluster(files: list[Path], n_rows: int, folder: Path) -> list[dict[str, Any]]:
    """Print and return how long the passes of three trainings take."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "sources"))
    from spark_cluster import running_cluster

    from privatree.errors import PrivatreeError
    from privatree.sources import SparkSource
    from privatree.sources.spark import spark_session

    chosen = files[: n_rows // STEP]
    streamed = in_a_process("train", chosen)
    figures = []
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    with running_cluster(folder / "cluster", executor_memory=1024) as found:
        spark = spark_session(found.url, {"spark.executor.memory": "1g"})
        source = SparkSource(spark.read.parquet(*map(str, chosen)), target="label")
        answer, seconds, killed = source.answer, [], []

        def timed(question: Any) -> Any:
            if killed and source.n_passes == 1:
                threading.Timer(killed[0], lambda: found.kill_worker(0)).start()
            start = time.perf_counter()
            result = answer(question)
            seconds.append(time.perf_counter() - start)
            return result

        source.answer = timed  # type: ignore[method-assign]
        for what in ("first", "again", "a worker killed in pass 2"):
            if what.startswith("a worker"):
                killed.append(seconds[1] / 2)
            seconds.clear()
            tree = learner().fit(source).model_.to_dict()["tree"]
            passes = ", ".join(f"{second:.1f}" for second in seconds)
            same = "the same tree" if tree == streamed["tree"] else "ANOTHER TREE"
            print(
                f"Spark, {n_rows:,} rows, {what}: passes {passes} s; {same} as streamed", flush=True
            )
            figures.append(
                {
                    "engine": "spark",
                    "rows": n_rows,
                    "training": what,
                    "pass_seconds": list(seconds),
                    "same_tree": tree == streamed["tree"],
                }
            )
        broken = folder / "broken"
        broken.mkdir()
        for file in chosen[:3]:
            (broken / file.name).hardlink_to(file)
        content = chosen[3 % len(chosen)].read_bytes()
        (broken / "part-cut.parquet").write_bytes(content[: len(content) // 2])
        try:
            learner().fit(SparkSource(spark.read.parquet(str(broken)), target="label"))
        except PrivatreeError as error:
            print(f"Spark, a file cut short: {type(error).__name__}: {error}")
        spark.stop()
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", default="1e6,1e7,1e8", metavar="N,N,...")
    parser.add_argument("--folder", type=Path, metavar="DIR")
    parser.add_argument("--spark", type=float, metavar="ROWS", help="also on a cluster")
    parser.add_argument("--keep", action="store_true", help="do not delete the files")
    add_json_option(parser)
    parser.add_argument("--measure", choices=["scan", "fastest", "train"], help=argparse.SUPPRESS)
    parser.add_argument("files", nargs="*", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        measures = {"scan": scan, "fastest": fastest_scan, "train": train}
        found = measures[arguments.measure](arguments.files)
        print(json.dumps(found))
        return
    sizes = [int(float(size)) for size in arguments.rows.split(",") if size]
    n_spark = int(arguments.spark or 0)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as temporary:
        folder = arguments.folder if arguments.keep and arguments.folder else Path(temporary)
        start = time.perf_counter()
        files = make_files(folder, max([*sizes, n_spark]))
        print(f"{len(files)} files made in {time.perf_counter() - start:.0f} s\n")
        print("| rows | size | scan | fastest scan | passes | pass / scan | pass / fastest | "
              "training | peak |")  # fmt: skip
        print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
        figures = [stream(files, size) for size in sizes]
        seconds = {row["rows"]: row["seconds"] for row in figures}
        for size in sizes:
            if 10 * size in seconds:
                ratio = seconds[10 * size] / seconds[size]
                print(f"\n{10 * size:,} rows took {ratio:.2f} times as long as {size:,}")
        if n_spark:
            print()
            figures += cluster(files, n_spark, Path(temporary))
        write_result(arguments.json, figures, "file k is made with seed k; random_state 0")


if __name__ == "__main__":
    main()
