"""What the experiments know of a method: its name, its place in the tables, how to train it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from inspect import getsource
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.schema import Categorical, Schema

if TYPE_CHECKING:
    import pandas as pd

NO_PRIVACY = "no privacy"
LEAKING = "leaking numerical splits"
CLAIMED = "privacy claimed"
PRIVATE = "differential privacy"


class Training(NamedTuple):
    """What a method is told besides the records.

    Attributes
    ----------
    schema : Schema
        Ranges, categories and classes, which the experiments declare public.
    epsilon : float
        The privacy budget; infinite for a method without privacy.
    max_depth : int
        The depth of a tree.
    seed : int or None
        Makes the fit repeatable; None: the noise is fresh.
    """

    schema: Schema
    epsilon: float
    max_depth: int
    seed: int | None

    @property
    def options(self) -> dict[str, Any]:
        """As our classifiers are told."""
        schema, epsilon, max_depth, seed = self
        return {
            "epsilon": epsilon,
            "max_depth": max_depth,
            "schema": schema,
            "random_state": seed,
        }


def unchanged(frame: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """The frame as it is: for classifiers that know numbers from categories."""
    return frame


def as_numbers(frame: pd.DataFrame, schema: Schema) -> NDArray[np.float64]:
    """The frame as numbers: a category is its position in the schema."""
    columns = [
        frame[name].cat.set_categories(list(feature.categories)).cat.codes
        if isinstance(feature, Categorical)
        else frame[name]
        for name, feature in schema.features.items()
    ]
    return np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])


def anything(schema: Schema) -> bool:
    """Whether a method applies to a dataset: it does."""
    return True


def has_categories(schema: Schema) -> bool:
    """Whether there is a categorical feature."""
    return any(isinstance(feature, Categorical) for feature in schema.features.values())


def has_two_classes(schema: Schema) -> bool:
    """Whether there are exactly two classes."""
    return len(schema.classes) == 2


@dataclass(frozen=True)
class Method:
    """A row of the experiments.

    Parameters
    ----------
    id : str
        As the command line and the results write it.
    title : str
        As the tables print it.
    group : str
        The heading in the tables: ``NO_PRIVACY``, ``LEAKING``, ``CLAIMED`` or ``PRIVATE``.
    classifier : callable
        From a :class:`Training` to a classifier that is not trained yet.
    encode : callable, default=unchanged
        From a frame and its schema to what the classifier takes; outside the measured time.
    applies_to : callable, default=anything
        Whether the method can be run on records of a schema; if not, its cell is empty.
    takes_sources : bool, default=False
        Whether the classifier reads files itself, through a source.
    requires : str or None, default=None
        A module that is not among the package's own dependencies.
    stands_in_for : str or None, default=None
        The id of a method whose place this one takes where that cannot be run.
    claimed : bool, default=False
        Whether its epsilon is a claim of its authors that does not hold for whole records.
    delta : float, default=0.0
        What its guarantee has besides epsilon.
    caveat : str, default=""
        What else a reader of a table must know of it; a sentence.
    effort : float, default=1.0
        How long it takes beside the others, roughly: for the progress bar.
    """

    id: str
    title: str
    group: str
    classifier: Callable[[Training], Any]
    encode: Callable[[pd.DataFrame, Schema], Any] = unchanged
    applies_to: Callable[[Schema], bool] = anything
    takes_sources: bool = False
    requires: str | None = None
    stands_in_for: str | None = None
    claimed: bool = False
    delta: float = 0.0
    caveat: str = ""
    effort: float = 1.0

    @property
    def private(self) -> bool:
        """Whether the result depends on epsilon."""
        return self.group != NO_PRIVACY

    @property
    def code(self) -> str:
        """How it is run, as Python: results of other code are other results."""
        return getsource(self.classifier) + getsource(self.encode)

    @property
    def missing(self) -> str | None:
        """Why the method cannot be run here; None if it can."""
        if self.requires is None or find_spec(self.requires) is not None:
            return None
        return f"{self.id} needs {self.requires}"
