"""One partition of the training records, and what it answers: a function of its records alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone


@dataclass(frozen=True)
class Voter:
    """What a partition votes for: nobody, always the same class, or what its model says.

    Parameters
    ----------
    codes : ndarray of int
        Positions of the classes that it can vote for: those of its own records, or none.
    model : classifier or None
        What was trained, where there are two classes or more.
    """

    codes: NDArray[np.intp]
    model: Any = None

    def vote(
        self, rows: NDArray[np.float64], classes: NDArray[Any], votes: NDArray[np.int32]
    ) -> None:
        """Add its votes on these rows to a table of rows and classes.

        A label that its own records do not have is nobody's vote: whether it is a class at all
        would depend on the rest of the data.
        """
        if self.model is None:
            votes[:, self.codes] += 1  # of one class, or of none
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
    """Train on the records of one partition.

    Parameters
    ----------
    base : classifier
        Not trained yet; it is copied.
    seed : int
        For every ``random_state`` of the classifier and of what it is made of.
    rows, codes : ndarray
        The records, in canonical form, and the positions of their labels among the classes.
    classes : ndarray
        All labels. The classifier is given labels, not positions, which depend on other classes.

    Returns
    -------
    Voter or Exception
        What the classifier raised, in training or when asked about the first of its own records;
        an exception too is a function of this partition.
    """
    present = np.unique(codes)
    if len(present) < 2:
        return Voter(present)
    model = clone(base)
    model.set_params(**dict.fromkeys(_seed_names(model), seed))
    order = training_order(rows, codes)
    ordered = rows[order]
    try:
        model.fit(ordered, classes[codes[order]])
        model.predict(ordered[:1])  # some classifiers find out only now that records are too few
    except MemoryError:  # the machine's trouble and not the partition's
        raise
    except Exception as error:
        return error
    return Voter(present, model)


def training_order(rows: NDArray[np.float64], codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Sort records by their values, column by column, and then by label."""
    return np.lexsort((codes, *rows.T[::-1]))


def _seed_names(model: Any) -> list[str]:
    return [
        name
        for name in model.get_params()
        if name == "random_state" or name.endswith("__random_state")
    ]
