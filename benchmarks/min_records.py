"""How often a training is refused by ``min_records``, honestly and as it should be.

    python benchmarks/min_records.py [--runs 1000] [--epsilon 1] [--records 300] [--least 100]

The noise on the number of records has a known law, so the probabilities are exact: that the given
number of records is refused, and that no record at all is accepted. Beside them, how often `runs`
trainings on so many records were refused.
"""

from __future__ import annotations

import argparse
from fractions import Fraction

import numpy as np

from privatree import Numeric, PrivaTreeClassifier, Schema, TooFewRecordsError
from privatree.privacy.mechanisms import TruncatedGeometric

SIZE_SHARE = Fraction(3, 100)


def refusal_probability(n_records: int, least: int, epsilon: float) -> float:
    """Return the probability that the noisy number of records is below the least."""
    law = TruncatedGeometric(SIZE_SHARE * Fraction(epsilon), 1, least - 1, least)
    return float(np.exp(law.log_probability(np.array([least - 1]), n_records))[0])


def count_refused(n_records: int, least: int, epsilon: float, runs: int) -> int:
    schema = Schema({"x": Numeric(0, 1)}, ["no", "yes"], min_records=least)
    x = np.linspace(0, 1, n_records).reshape(-1, 1)
    y = np.where(x[:, 0] > 0.5, "yes", "no")
    refused = 0
    for seed in range(runs):
        try:
            PrivaTreeClassifier(epsilon, max_depth=1, schema=schema, random_state=seed).fit(x, y)
        except TooFewRecordsError:
            refused += 1
    return refused


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--records", type=int, default=300)
    parser.add_argument("--least", type=int, default=100)
    given = parser.parse_args()
    honest = refusal_probability(given.records, given.least, given.epsilon)
    empty = 1 - refusal_probability(0, given.least, given.epsilon)
    refused = count_refused(given.records, given.least, given.epsilon, given.runs)
    print(f"{given.records} records refused with probability {honest:.4%}")
    print(f"no records accepted with probability  {empty:.4%}")
    print(f"{refused} of {given.runs} trainings on {given.records} records were refused")


if __name__ == "__main__":
    main()
