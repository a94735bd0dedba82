"""A method that audits and tables compare: its name, its place in the tables, its classifier."""

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
    """What a method gets besides the records.

    Attributes
    ----------
    schema : Schema
        Ranges, categories and classes, which the comparison takes to be public.
    epsilon : float
        Privacy budget; infinite for a method without privacy.
    max_depth : int
        Depth of a tree.
    seed : int or None
        Seed of the noise; None for fresh noise.

    Examples
    --------
    >>> from privatree import datasets
    >>> from privatree.baselines.methods import Training, get
    >>> frame, labels, schema = datasets.load("vote")
    >>> model = get("privatree").classifier(Training(schema, epsilon=1.0, max_depth=2, seed=0))
    >>> model.fit(frame, labels).get_n_leaves()
    2
    """

    schema: Schema
    epsilon: float
    max_depth: int
    seed: int | None

    @property
    def options(self) -> dict[str, Any]:
        """The attributes as keyword arguments of this package's classifiers."""
        return {
            "epsilon": self.epsilon,
            "max_depth": self.max_depth,
            "schema": self.schema,
            "random_state": self.seed,
        }


def encode_method_frame(frame: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """Return the frame itself, for classifiers that tell numbers from categories."""
    return frame


def encode_method_numbers(frame: pd.DataFrame, schema: Schema) -> NDArray[np.float64]:
    """Return the frame as numbers. A category becomes its position in the schema."""
    columns = [
        frame[name].cat.set_categories(list(feature.categories)).cat.codes
        if isinstance(feature, Categorical)
        else frame[name]
        for name, feature in schema.features.items()
    ]
    return np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])


def method_takes_any_schema(schema: Schema) -> bool:
    return True


def method_needs_categories(schema: Schema) -> bool:
    return any(isinstance(feature, Categorical) for feature in schema.features.values())


def method_needs_two_classes(schema: Schema) -> bool:
    return len(schema.classes) == 2


@dataclass(frozen=True)
class Method:
    """A method that audits and tables compare.

    Parameters
    ----------
    id : str
        Name on the command line and in the results.
    title : str
        Name in the tables.
    group : str
        Heading in the tables: ``NO_PRIVACY``, ``LEAKING``, ``CLAIMED`` or ``PRIVATE``.
    classifier : callable
        Function that makes an untrained classifier from a :class:`Training`.
    regressor : callable or None, default=None
        The same for a numeric target; None if the method cannot predict numbers. Only audits use
        it.
    encode : callable, default=encode_method_frame
        Function that makes the classifier's input from a frame and its schema. Its time is not
        measured.
    applies_to : callable, default=method_takes_any_schema
        Function that returns whether the method can be run with a schema of classes. If not, the
        cell of the method is empty.
    takes_sources : bool, default=False
        Whether the classifier can read files itself, through a source.
    requires : str or None, default=None
        Module that the method needs and that is not a dependency of this package.
    stands_in_for : str or None, default=None
        Id of another method, which this method replaces if the other is not installed.
    claimed : bool, default=False
        Whether epsilon is a claim of the authors that does not hold for whole records.
    delta : float, default=0.0
        Delta of the guarantee.
    gives_probabilities : bool, default=True
        Whether ``predict_proba`` says more than ``predict``. If not, tables of scores that need
        probabilities have a dash.
    caveat : str, default=""
        A note on the method for the readers of a table.
    effort : float, default=1.0
        Rough duration relative to other methods, for the progress bar.
    surveyed : bool, default=False
        Whether the method is only in the table of all published methods, and no other table.

    Examples
    --------
    >>> from privatree.baselines.methods import get
    >>> method = get("bdpt")
    >>> method.title, method.group, method.claimed
    ('BDPT', 'leaking numerical splits', True)
    """

    id: str
    title: str
    group: str
    classifier: Callable[[Training], Any]
    regressor: Callable[[Training], Any] | None = None
    encode: Callable[[pd.DataFrame, Schema], Any] = encode_method_frame
    applies_to: Callable[[Schema], bool] = method_takes_any_schema
    takes_sources: bool = False
    requires: str | None = None
    stands_in_for: str | None = None
    claimed: bool = False
    delta: float = 0.0
    gives_probabilities: bool = True
    caveat: str = ""
    effort: float = 1.0
    surveyed: bool = False

    def learner(self, training: Training) -> Any:
        """Return an untrained classifier or, if the schema has a target, an untrained regressor."""
        if training.schema.target is None or self.regressor is None:
            return self.classifier(training)
        return self.regressor(training)

    def supports(self, schema: Schema) -> bool:
        """Return whether the method can be run with a schema of classes or of a number."""
        return self.applies_to(schema) if schema.target is None else self.regressor is not None

    @property
    def private(self) -> bool:
        """Whether the result depends on epsilon."""
        return self.group != NO_PRIVACY

    @property
    def code(self) -> str:
        """Source code of `classifier` and `encode`, to detect results of different code."""
        return getsource(self.classifier) + getsource(self.encode)

    @property
    def missing(self) -> str | None:
        """Reason why the method cannot be run here; None if it can."""
        if self.requires is None or find_spec(self.requires) is not None:
            return None
        return f"{self.id} needs {self.requires}"
