"""Views: ways to observe a trained model, whose outcomes can be counted.

A *view* turns a released model into a hashable value: the whole tree, the splits, the predictions
for some records, the classes and categories that the model lists. Errors and warnings are
observations, too.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.audit._ensemble_views import (
    view_features,
    view_first_function,
    view_margins,
    view_n_rounds,
)
from privatree.audit.exact._privacy_loss import TreeShape, shape_of
from privatree.audit.pairs._file_readers import FileTable
from privatree.errors import ParameterError
from privatree.model import Tree
from privatree.privacy import PrivacyStatement
from privatree.schema import Target

MAX_PROBES = 12
"""Largest number of records whose predictions are observed."""
_STEPS = 20
"""Probabilities are rounded to multiples of one over this number."""
VALUE_STEPS = 20
"""Predicted numbers are rounded to multiples of the range of the target over this number."""
_MAX_ENTRIES = 1000
"""Largest number of entries of a list or array that are observed."""
_MAX_LEVELS = 5


class TrainingResult(NamedTuple):
    """The model of one training, and its messages."""

    model: Any
    """The trained classifier; None if training failed."""
    said: tuple[str, ...]
    """The error, or else the warnings and the printed lines."""


class View(NamedTuple):
    """One way to observe a trained model.

    Attributes
    ----------
    words : str
        What is observed. A report prints these words, a colon and the outcome.
    see : callable
        Takes the model and records to predict; returns a hashable value, or None if the model lacks
        what the view looks at.
    has_parts : bool
        Whether the value is a tuple whose entries can also be scored one by one.

    Examples
    --------
    >>> depth = View("the depth of the tree", lambda model, records: model.get_depth())
    >>> depth.has_parts
    False
    """

    words: str
    see: Callable[[Any, Any], Hashable]
    has_parts: bool = False


def train_for_views(estimator: Any, X: Any, y: Any) -> TrainingResult:
    """Train, and return the model with all warnings and printed lines, or the error."""
    printed = io.StringIO()
    clean = X.redact_folder if isinstance(X, FileTable) else str
    with (
        warnings.catch_warnings(record=True) as caught,
        redirect_stdout(printed),
        redirect_stderr(printed),
    ):
        warnings.simplefilter("always")
        try:
            estimator.fit(*_copy_viewed_records(X, y))
        except Exception as error:  # any error can be observed
            return TrainingResult(None, (clean(f"{type(error).__name__}: {error}"),))
    warned = {f"{warning.category.__name__}: {warning.message}" for warning in caught}
    said = {clean(text) for text in warned | set(printed.getvalue().splitlines())}
    return TrainingResult(estimator, tuple(sorted(said)))


def _copy_viewed_records(X: Any, y: Any) -> tuple[Any, ...]:
    """Return a copy of the records, because a learner may change its input."""
    if isinstance(X, FileTable):
        return X.read()
    return tuple(table.copy() if hasattr(table, "copy") else table for table in (X, y))


def observe_training(
    views: Mapping[str, View], probes: Any, trained: TrainingResult
) -> tuple[Hashable, ...]:
    """Return what each view shows of a training. After an error, every view shows the error."""
    if trained.model is None:
        return tuple(("error", *trained.said) for _ in views)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings of predict are not about training records
        return tuple(
            trained.said if name == "said" else _apply_view(name, view, trained.model, probes)
            for name, view in views.items()
        )


def view_shows_anything(name: str, outcomes: Iterable[Hashable]) -> bool:
    """Return whether any outcome is neither None nor an error; always true for the view "said"."""
    return name == "said" or any(
        outcome is not None and not view_shows_error(outcome) for outcome in outcomes
    )


def view_shows_error(outcome: Hashable) -> bool:
    """Return whether the outcome is an error of the training or of the view."""
    return isinstance(outcome, tuple) and outcome[:1] == ("error",)


def _apply_view(name: str, view: View, model: Any, probes: Any) -> Hashable:
    try:
        shown = view.see(model, probes)
    except Exception as error:  # that a model cannot predict is an observation, too
        return "error", f"{type(error).__name__}: {error}"
    try:
        hash(shown)
    except TypeError:
        raise ParameterError(
            f"the view {name!r} must return a hashable value, got {type(shown).__name__}. Turn "
            "lists and arrays into tuples."
        ) from None
    return shown


# --- views ----------------------------------------------------------------------------------------


def _view_tree(show: Callable[[Tree], Hashable], model: Any, probes: Any) -> Hashable:
    tree = getattr(model, "tree_", None)
    return show(tree) if isinstance(tree, Tree) else None


def _view_labelled_splits(tree: Tree) -> TreeShape:
    """Return the tree with its splits and labels, without probabilities and noisy counts.

    Numbers are rounded: as they are, hardly any would occur twice.
    """

    def shape_with_labels(shape: TreeShape) -> TreeShape:
        if len(shape) == 3:
            return _rounded_leaf(tree, shape)
        feature, where, left, right = shape
        return feature, where, shape_with_labels(left), shape_with_labels(right)

    return shape_with_labels(shape_of(tree))


def _view_splits(tree: Tree) -> TreeShape:
    """Return the tree as nested tuples: (feature, left, right) for a split, () for a leaf."""

    def without_values(shape: TreeShape) -> TreeShape:
        if len(shape) == 3:
            return ()
        feature, _, left, right = shape
        return feature, without_values(left), without_values(right)

    return without_values(shape_of(tree))


def _view_root(tree: Tree) -> TreeShape:
    shape = shape_of(tree)
    return shape[:2] if len(shape) == 4 else _rounded_leaf(tree, shape)


def _rounded_leaf(tree: Tree, leaf: TreeShape) -> TreeShape:
    if tree.schema.target is None:
        return leaf[:1]
    return tuple(_steps_of_values(np.array([leaf[0]]), tree.schema.target))


def _steps_of_values(values: NDArray[np.float64], target: Target) -> list[int]:
    low, high = float(target.low), float(target.high)
    steps: list[int] = np.rint((values - low) / (high - low) * VALUE_STEPS).astype(int).tolist()
    return steps


def _view_values(model: Any, probes: Any) -> Hashable:
    target = getattr(getattr(model, "schema_", None), "target", None)
    if target is None:
        return None
    predicted = np.asarray(model.predict(probes), dtype=np.float64)
    return tuple(_steps_of_values(predicted, target))


def _view_magnitude(tree: Tree) -> Hashable:
    threshold = abs(float(tree.threshold[0]))
    return math.floor(math.log10(threshold)) if threshold > 0 else str(threshold)


def _view_labels(model: Any, probes: Any) -> Hashable:
    return tuple(map(str, np.asarray(model.predict(probes)).tolist()))


def _view_probabilities(
    show: Callable[[NDArray[np.float64]], Hashable], model: Any, probes: Any
) -> Hashable:
    tree = getattr(model, "tree_", None)
    has_labels_only = isinstance(tree, Tree) and tree.probability is None
    if has_labels_only or not hasattr(model, "predict_proba"):
        return None
    return show(np.asarray(model.predict_proba(probes), dtype=np.float64).ravel())


def _view_rounded(probabilities: NDArray[np.float64]) -> Hashable:
    return tuple(np.rint(np.nan_to_num(probabilities, nan=-1.0) * _STEPS).astype(int).tolist())


def _view_exact(probabilities: NDArray[np.float64]) -> Hashable:
    return tuple(map(repr, probabilities.tolist()))


def _view_members(model: Any, probes: Any) -> Hashable:
    members = getattr(model, "estimators_", None)
    if members is None:
        return None
    labels = [np.asarray(member.predict(probes)).tolist() for member in members]
    return tuple(str(label) for of_member in labels for label in of_member)


def _view_listed_values(model: Any, probes: Any) -> Hashable:
    found = list_viewed_entries(model)
    return tuple((path, str(value)) for path, value in found if not isinstance(value, float))


def _view_float_values(model: Any, probes: Any) -> Hashable:
    """Return the floats in a model. Noisy floats rarely repeat; exact floats identify a dataset."""
    found = [repr(value) for _, value in list_viewed_entries(model) if isinstance(value, float)]
    return tuple(found[:_MAX_ENTRIES]) or None


def list_viewed_entries(
    value: Any, path: str = "", levels: int = _MAX_LEVELS
) -> Iterator[tuple[str, Any]]:
    """Yield the path and value of every name, number and size in a model, `levels` deep."""
    if value is None or isinstance(value, bool | int | float | str | np.generic):
        yield path, value.item() if isinstance(value, np.generic) else value
    elif isinstance(value, np.ndarray):
        yield f"shape of {path}", value.shape
        if value.dtype.kind in "biufUSO":
            entry_list = value.ravel()[:_MAX_ENTRIES].tolist()
            yield from list_viewed_entries(entry_list, path, levels)
    elif levels and hasattr(value, "get_params"):
        for name in sorted(vars(value)):
            if name.endswith("_") and not name.startswith("_"):
                yield from list_viewed_entries(
                    getattr(value, name), f"{path}.{name}".lstrip("."), levels - 1
                )
    elif levels and isinstance(value, Mapping):
        for key, of_key in list(value.items())[:_MAX_ENTRIES]:
            yield f"key of {path}", str(key)
            yield from list_viewed_entries(of_key, f"{path}[{key!r}]", levels - 1)
    elif levels and isinstance(value, list | tuple):
        yield f"length of {path}", len(value)
        for place, entry in enumerate(value[:_MAX_ENTRIES]):
            yield from list_viewed_entries(entry, f"{path}[{place}]", levels - 1)


def _view_privacy_statement(model: Any, probes: Any) -> Hashable:
    """Return the statement as text, or None if it declares the number of records public."""
    privacy = getattr(model, "privacy_", None)
    if not isinstance(privacy, PrivacyStatement):
        return None
    has_size = any(what.startswith("the number of ") for what in privacy.public)
    return None if has_size else str(privacy)


VIEWS: dict[str, View] = {
    "said": View("errors, warnings and what else the training says", lambda model, probes: None),
    "tree": View("the tree", partial(_view_tree, _view_labelled_splits)),
    "splits": View("the features on which the tree splits", partial(_view_tree, _view_splits)),
    "root": View("the split at the root", partial(_view_tree, _view_root)),
    "magnitude": View(
        "the order of magnitude of the threshold at the root", partial(_view_tree, _view_magnitude)
    ),
    "labels": View("the predictions for the records of both tables", _view_labels, True),
    "values": View(
        f"the predicted numbers, in steps of 1/{VALUE_STEPS} of the range of the target, for the "
        "records of both tables",
        _view_values,
        True,
    ),
    "probabilities": View(
        f"the predicted probabilities, in steps of 1/{_STEPS}, for the records of both tables",
        partial(_view_probabilities, _view_rounded),
        True,
    ),
    "exact probabilities": View(
        "the predicted probabilities for the records of both tables",
        partial(_view_probabilities, _view_exact),
        True,
    ),
    "members": View(
        "the predictions of the members of the ensemble for the records of both tables",
        _view_members,
        True,
    ),
    "rounds": View("the number of rounds", view_n_rounds),
    "first function": View("the function of the first round", view_first_function),
    "features": View("the features of the functions of all rounds", view_features, True),
    "margins": View(
        "twice the margins, in steps of the ensemble, for the records of both tables",
        view_margins,
        True,
    ),
    "listed": View("names, whole numbers and sizes in the model", _view_listed_values),
    "numbers": View("numbers in the model", _view_float_values, True),
    "statement": View("the privacy statement", _view_privacy_statement),
}
"""All built-in views, by name."""
