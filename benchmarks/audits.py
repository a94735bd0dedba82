"""Audits of ourselves and of others at epsilon 1, as in docs/audits.md; prints a table.

Reports that are in the folder already are not made again, so the run can be made in parts: name
some methods, and give the command without names at the end. With diffprivlib and interpret in the
environment (the extra "bench") our own methods and other libraries take about an hour on two cores,
most of it for our own learner, which gets more trainings than the others. The published methods of
the survey take some minutes each; ``survey`` stands for all of them.

    python benchmarks/audits.py audits [method ...]
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from privatree.baselines.methods import survey

# Trainings of each table; fewer where one takes long.
RUNS = {
    "privatree": 20_000,
    "privatree-robust": 200,
    "privatree-paper": 1000,
    "privatree-star": 200,
    "bdpt": 200,
    "dpgdf": 200,
    "random-tree": 200,
    "diffprivlib-tree": 200,
    "diffprivlib-forest": 200,
    "diffprivlib-logistic": 200,
    "dp-ebm": 40,
}
RUNS = dict.fromkeys(survey(), 100) | RUNS
PAIRS = (
    *("purity", "many-features", "new-class", "new-category", "outlier", "size-threshold"),
    *("category-order", "three-records", "first-row", "part-sizes", "no-records"),
    *("lead", "noisy-size"),
)
"""The pairs of datasets in memory; pairs of files have figures of their own."""


def audited(method: str, folder: Path) -> dict[str, float]:
    """Return the lower bound on epsilon for each pair."""
    report = folder / f"{method}.json"
    if not report.exists():
        command = [sys.executable, "-m", "privatree", "audit", method, "--epsilon", "1"]
        command += ["--runs", str(RUNS[method]), "--pairs", ",".join(PAIRS), "-o", str(report)]
        with open(folder / f"{method}.txt", "w") as text:
            subprocess.run(command, check=True, stdout=text)
    written = json.loads(report.read_text())
    return {finding["pair"]: finding["lower_bound"] for finding in written["findings"]}


def cell(bound: float | None) -> str:
    if bound is None:
        return ""
    rounded = f"{int(bound * 100) / 100:.2f}"
    return f"**{rounded}**" if bound > 1 else rounded


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    asked = sys.argv[2:] or list(RUNS)
    methods = [m for name in asked for m in (survey() if name == "survey" else (name,))]
    print(f"| method | runs | {' | '.join(PAIRS)} |")
    print(f"| --- | ---: |{' ---: |' * len(PAIRS)}")
    for method in methods:
        bounds = audited(method, folder)
        cells = [cell(bounds.get(pair)) for pair in PAIRS]
        print(f"| {method} | {RUNS[method]:,} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
