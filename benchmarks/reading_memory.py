"""How much memory the commands take that read files, on a CSV file of about 200 MB.

    python benchmarks/reading_memory.py [MEGABYTES]

The file is made on the fly: an identifier, ten numbers, two categories and a label. Each command
runs in a process of its own, whose largest resident set is printed; that of ``--help`` is what the
program takes without records.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

N_NUMBERS = 10
CHILD = """
import resource, sys
from privatree.cli import main
try:
    main()
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


def write_data(path: Path, megabytes: int) -> None:
    generator = np.random.default_rng(0)
    names = [f"x{place}" for place in range(N_NUMBERS)]
    n_done = 0
    with path.open("w") as file:
        file.write(",".join(["id", *names, "kind", "place", "answer"]) + "\n")
        while file.tell() < megabytes * 2**20:
            numbers = generator.uniform(0, 100, (10_000, N_NUMBERS))
            for row in numbers:
                texts = ",".join(f"{number:.6f}" for number in row)
                kind, place = "abc"[n_done % 3], ("north", "south")[n_done % 2]
                answer = ("no", "yes")[int(row[0] + row[1] > 100)]
                file.write(f"person-{n_done:09d},{texts},{kind},{place},{answer}\n")
                n_done += 1


def write_schema(path: Path) -> None:
    from privatree import Categorical, Numeric, Schema

    features: dict[str, Numeric | Categorical] = {
        f"x{place}": Numeric(0, 100) for place in range(N_NUMBERS)
    }
    features |= {"kind": Categorical(["a", "b", "c"]), "place": Categorical(["north", "south"])}
    Schema(features, ["no", "yes"]).to_toml(path)


def run(arguments: str) -> None:
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *arguments.split()], capture_output=True, check=False
    )
    seconds = time.perf_counter() - start
    peak = int(done.stderr.split()[-1]) / 1024
    print(f"{peak:6.0f} MiB {seconds:6.1f} s  exit {done.returncode}  privatree {arguments}")
    if "-o out." not in arguments:
        return
    out = Path(arguments.rpartition("-o ")[2])
    with out.open("rb") as file:
        print(f"{' ':21}{hashlib.file_digest(file, 'sha256').hexdigest()[:16]} {out}")


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_data(Path("data.csv"), megabytes)
        write_schema(Path("schema.toml"))
        known = "--target answer --schema schema.toml"
        run("--help")
        run(f"fit data.csv {known} --epsilon 1 --seed 1 --engine memory -q -o model.json")
        run(f"fit data.csv {known} --epsilon 1 --seed 1 --engine stream -q -o model.json")
        run("predict model.json data.csv -o out.csv")
        run("predict model.json data.csv --keep id,kind --proba -o out.csv")
        run("predict model.json data.csv --keep id,kind --proba -o out.parquet")
        run("schema check schema.toml data.csv --target answer")
        run(f"certify data.csv {known} --epsilon 1 --seed 1 --refits 2 --jobs 1 --confidence 0.5")
        os.chdir("/")


if __name__ == "__main__":
    main()
