"""Mutated model, schema and certificate files through the loaders, and what came of them.

    python benchmarks/fuzz_loaders.py --files 100000 --seed 0

Of ten files six are models, three schemas and one a certificate. Each must be refused with one
clear line, or load and then work: predict, print, be saved and loaded again. Anything else fails:
another exception, a warning, a crash, more than 1 s, more than 200 MB. The exit code is then 1,
and the files are kept in the folder of --keep.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from fuzzing.supervisor import MAX_SILENT_SECONDS, outcomes, write_starting_files
from fuzzing.trial import Outcome, kind_of, mutated_file
from fuzzing.worker import kinds_named

_SHOWN_REASONS = 12


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", default="fuzzing.file_kinds", help="module with KINDS")
    parser.add_argument("--keep", type=Path, help="folder for files that failed")
    parser.add_argument(
        "--patience", type=float, default=MAX_SILENT_SECONDS, help="seconds for a file"
    )
    arguments = parser.parse_args()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        starting = Path(name)
        write_starting_files(arguments.kinds, starting)
        found = []
        for outcome in outcomes(
            arguments.kinds, starting, arguments.seed, arguments.files, arguments.patience
        ):
            found.append(outcome)
            if outcome.result == "failed":
                print(f"FAILED {outcome.kind} {outcome.number}: {outcome.why}", flush=True)
                if arguments.keep is not None:
                    _keep(arguments, starting, outcome)
    _report(found, time.monotonic() - begin)
    sys.exit(any(outcome.result == "failed" for outcome in found))


def _keep(arguments: argparse.Namespace, starting: Path, outcome: Outcome) -> None:
    kind = kind_of(kinds_named(arguments.kinds), outcome.number)
    contents, start = mutated_file(kind, starting, arguments.seed, outcome.number)
    arguments.keep.mkdir(parents=True, exist_ok=True)
    (arguments.keep / f"{outcome.number}-{start}{kind.suffix}").write_bytes(contents)


def _report(found: list[Outcome], seconds: float) -> None:
    print("| kind | files | loaded | refused | failed | slowest load, s | most memory, MB |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for kind in dict.fromkeys(outcome.kind for outcome in found):
        some = [outcome for outcome in found if outcome.kind == kind]
        results = Counter(outcome.result for outcome in some)
        slowest = max(some, key=lambda outcome: outcome.seconds)
        largest = max(some, key=lambda outcome: outcome.megabytes)
        print(
            f"| {kind} | {len(some)} | {results['loaded']} | {results['refused']} | "
            f"{results['failed']} | {slowest.seconds:.2f} (file {slowest.number}) | "
            f"{largest.megabytes:.0f} (file {largest.number}) |"
        )
    print(f"\n{len(found)} files in {seconds:.0f} s. Why files were refused:")
    reasons = Counter(
        f"{outcome.kind}: {_without_details(outcome.why)}"
        for outcome in found
        if outcome.result == "refused"
    )
    for reason, count in reasons.most_common(_SHOWN_REASONS):
        print(f"{count:7d}  {reason}")
    print(f"{sum(reasons.values()):7d}  in all, for {len(reasons)} reasons")


def _without_details(message: str) -> str:
    """Remove names and numbers, so that messages of the same kind are equal."""
    return re.sub(r"'[^']*'|\"[^\"]*\"|[-+]?\d[\d.e+-]*|got .*", "_", message)[:90]


if __name__ == "__main__":
    main()
