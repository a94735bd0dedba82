"""The model of one partition and its votes, which depend on the records of the partition alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone


@dataclass(frozen=True)
class Voter:
    """The votes of one partition: none, always the same class, or the predictions of a model.

    `codes` are the positions of the classes that the partition's own records have. `model` is None
    if there are fewer than two of them.
    """

    codes: NDArray[np.intp]
    model: Any = None

    def add_votes(
        self, rows: NDArray[np.float64], classes: NDArray[Any], votes: NDArray[np.int32]
    ) -> None:
        """Add this partition's votes on the rows to a table of rows and classes.

        A predicted label that the partition's own records do not have does not count as a vote,
        because other partitions decide whether such a label is a class.
        """
        if self.model is None:
            votes[:, self.codes] += 1  # one class, or none
            return
        predicted = np.asarray(self.model.predict(rows))
        for code in self.codes:
            votes[:, code] += predicted == classes[code]


ABSTAINING = Voter(np.empty(0, dtype=np.intp))


def train_voter(
    base: Any,
    seed: int,
    rows: NDArray[np.float64],
    codes: NDArray[np.intp],
    classes: NDArray[Any],
) -> Voter | Exception:
    """Return the voter of one partition, with a copy of `base` trained on the canonical rows.

    The seed sets every ``random_state`` of the classifier and of its parts. The classifier is given
    labels, not class codes: a code depends on the classes of other partitions.

    If the classifier raises an exception, in training or when it predicts the first of its own
    records, the exception is returned. Like a model, the exception depends on this partition alone.
    """
    present = np.unique(codes)
    if len(present) < 2:
        return Voter(present)
    model = clone(base)
    names = [name for name in model.get_params() if name.split("__")[-1] == "random_state"]
    model.set_params(**dict.fromkeys(names, seed))
    order = voter_order(rows, codes)
    ordered = rows[order]
    try:
        model.fit(ordered, classes[codes[order]])
        model.predict(ordered[:1])  # some classifiers find out only now that records are too few
    except MemoryError:  # depends on the machine, not on the partition
        raise
    except Exception as error:
        return error
    return Voter(present, model)


def voter_order(rows: NDArray[np.float64], codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the order that sorts records by their values, column by column, then by label."""
    return np.lexsort((codes, *rows.T[::-1]))
