"""What both schedules of the record-level learner certify: the table of ``docs/robustness.md``.

For each dataset the first 80% of a shuffle (seed 0) are for training; 400 refits with seeds derived
from 0; 99% confidence.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np

from privatree import PrivaTreeClassifier
from privatree.reproduction import datasets
from privatree.robustness import accuracy_certificate

DATASETS = ("adult", "california", "mushroom")
EPSILONS = (0.01, 0.1)
SCHEDULES = (("default", {}), ("robust", {"schedule": "robust"}))
SHARES = ("0.1%", "0.5%", "1%")
LEVELS = (0.7, 0.6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, help="folder of datasets; else bundled or fetched")
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--refits", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    print("| dataset | epsilon | schedule | accuracy | with 99% | 0.1 / 0.5 / 1% | x at .7, .6 |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in arguments.datasets:
        records = datasets.load(name, arguments.data_dir)
        order = np.random.default_rng(0).permutation(len(records.labels))
        n_train = math.floor(0.8 * len(order))
        train, test = order[:n_train], order[n_train:]
        for epsilon in EPSILONS:
            for title, parameters in SCHEDULES:
                found = accuracy_certificate(
                    PrivaTreeClassifier(
                        epsilon, schema=records.schema, random_state=0, **parameters
                    ),
                    records.frame.iloc[train],
                    records.labels.iloc[train],
                    records.frame.iloc[test],
                    records.labels.iloc[test],
                    poisoned=SHARES,
                    refits=arguments.refits,
                    n_jobs=arguments.jobs,
                )
                certified = " / ".join(shown(found.guarantee(x)) for x in found.poisoned)
                tolerated = ", ".join(str(found.tolerates(level)) for level in LEVELS)
                print(
                    f"| {name} | {epsilon:g} | {title} | {found.estimate:.3f} | "
                    f"{shown(found.guarantee(0))} | {certified} | {tolerated} |",
                    flush=True,
                )


def shown(score: float) -> str:
    """Write a score with three digits, rounded down."""
    return f"{math.floor(1000 * score) / 1000:.3f}".removeprefix("0")


if __name__ == "__main__":
    main()
