"""Deep Partition Aggregation [LF21] with 1000 trees, as the paper ran it; categories as numbers.

Nothing in it is random: the seed of a fit is not used.
"""

from __future__ import annotations

from typing import Any

from privatree.baselines.methods._method import NO_PRIVACY, Method, Training, as_numbers

N_TREES = 1000


def _classifier(training: Training) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    from privatree.robustness import DPAClassifier

    return DPAClassifier(
        DecisionTreeClassifier(max_depth=training.max_depth),
        n_partitions=N_TREES,
        classes=training.schema.classes,
    )


METHOD = Method(
    "dpa",
    "DPA",
    NO_PRIVACY,
    _classifier,
    encode=as_numbers,
    caveat=f"DPA: a vote of {N_TREES} trees, each of them trained on its own part of the records; "
    "neither private nor interpretable.",
    effort=6.0,
)
