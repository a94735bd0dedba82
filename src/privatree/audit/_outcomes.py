"""What somebody who gets a trained model can see of it, in forms that can be counted.

A *view* turns a released model into a hashable: its whole tree, where it splits, what it predicts
for some records, which classes and categories it lists. An exception or a warning is something that
can be seen, too.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.audit.exact._privacy_loss import TreeShape, shape_of
from privatree.audit.pairs._file_readers import FileTable
from privatree.errors import ParameterError
from privatree.model import Tree
from privatree.privacy import PrivacyStatement

MAX_PROBES = 12
"""Records for which predictions are looked at."""
_STEPS = 20
"""Into how many steps a probability is rounded."""
_MAX_ENTRIES = 1000
"""Of a list or array in a model that are looked at."""
_MAX_LEVELS = 5


class Trained(NamedTuple):
    """What came out of one training."""

    model: Any
    """None if there was an error."""
    said: tuple[str, ...]
    """The error; else warnings, and what was printed."""


class View(NamedTuple):
    """One way to look at a model."""

    words: str
    """What is seen, so that ": this, or that" can follow."""
    see: Callable[[Any, Any], Hashable]
    """Takes the model and records to predict; None: a model like this has nothing of the kind."""
    has_parts: bool = False
    """Whether it shows a tuple of which each place says something by itself."""


def train(estimator: Any, X: Any, y: Any) -> Trained:
    """Read, if the records are in files, train, and note down what is said.

    That is an error, warnings, and what is printed, both of reading and of training.
    """
    printed = io.StringIO()
    clean = X.without_place if isinstance(X, FileTable) else str
    with (
        warnings.catch_warnings(record=True) as caught,
        redirect_stdout(printed),
        redirect_stderr(printed),
    ):
        warnings.simplefilter("always")
        try:
            estimator.fit(*_own(X, y))
        except Exception as error:  # whatever it is: it can be seen
            return Trained(None, (clean(f"{type(error).__name__}: {error}"),))
    warned = {f"{warning.category.__name__}: {warning.message}" for warning in caught}
    said = {clean(text) for text in warned | set(printed.getvalue().splitlines())}
    return Trained(estimator, tuple(sorted(said)))


def _own(X: Any, y: Any) -> tuple[Any, ...]:
    """Records of which nobody else has a copy: a learner may change what it is given."""
    if isinstance(X, FileTable):
        return X.read()
    return tuple(table.copy() if hasattr(table, "copy") else table for table in (X, y))


def seen(views: Mapping[str, View], probes: Any, trained: Trained) -> tuple[Hashable, ...]:
    """What each view shows of a training: of an error, only that."""
    if trained.model is None:
        return tuple(("error", *trained.said) for _ in views)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what predicting says is not about training records
        return tuple(
            trained.said if name == "said" else _look(name, view, trained.model, probes)
            for name, view in views.items()
        )


def shows_something(name: str, outcomes: Iterable[Hashable]) -> bool:
    """Whether there is anything to be seen by a view, and not only errors, which "said" shows."""
    return name == "said" or any(
        outcome is not None and not is_error(outcome) for outcome in outcomes
    )


def is_error(outcome: Hashable) -> bool:
    """Whether training or looking at the model failed."""
    return isinstance(outcome, tuple) and outcome[:1] == ("error",)


def _look(name: str, view: View, model: Any, probes: Any) -> Hashable:
    try:
        shown = view.see(model, probes)
    except Exception as error:  # a model that cannot predict shows that
        return "error", f"{type(error).__name__}: {error}"
    try:
        hash(shown)
    except TypeError:
        raise ParameterError(
            f"the view {name!r} must show something hashable, got {type(shown).__name__}. Turn "
            "lists and arrays into tuples."
        ) from None
    return shown


# --- views ----------------------------------------------------------------------------------------


def _tree(model: Any) -> Tree | None:
    tree = getattr(model, "tree_", None)
    return tree if isinstance(tree, Tree) else None


def _shape(model: Any, probes: Any) -> Hashable:
    tree = _tree(model)
    return None if tree is None else shape_of(tree)


def _splits(model: Any, probes: Any) -> Hashable:
    tree = _tree(model)
    return None if tree is None else _without_values(shape_of(tree))


def _without_values(shape: TreeShape) -> TreeShape:
    """Features only: (feature, left, right), and () for a leaf."""
    if len(shape) == 2:
        return ()
    feature, _, left, right = shape
    return feature, _without_values(left), _without_values(right)


def _root(model: Any, probes: Any) -> Hashable:
    tree = _tree(model)
    if tree is None:
        return None
    shape = shape_of(tree)
    return shape[:2] if len(shape) == 4 else shape[:1]


def _root_magnitude(model: Any, probes: Any) -> Hashable:
    tree = _tree(model)
    if tree is None:
        return None
    threshold = abs(float(tree.threshold[0]))
    return math.floor(math.log10(threshold)) if threshold > 0 else str(threshold)


def _labels(model: Any, probes: Any) -> Hashable:
    return tuple(map(str, np.asarray(model.predict(probes)).tolist()))


def _shares(model: Any, probes: Any) -> NDArray[np.float64] | None:
    tree = _tree(model)
    if not hasattr(model, "predict_proba") or (tree is not None and tree.probability is None):
        return None  # labels say as much
    return np.asarray(model.predict_proba(probes), dtype=np.float64).ravel()


def _probabilities(model: Any, probes: Any) -> Hashable:
    shares = _shares(model, probes)
    if shares is None:
        return None
    return tuple(np.rint(np.nan_to_num(shares, nan=-1.0) * _STEPS).astype(int).tolist())


def _exact_probabilities(model: Any, probes: Any) -> Hashable:
    shares = _shares(model, probes)
    return None if shares is None else tuple(map(repr, shares.tolist()))


def _members(model: Any, probes: Any) -> Hashable:
    members = getattr(model, "estimators_", None)
    if members is None:
        return None
    labels = [np.asarray(member.predict(probes)).tolist() for member in members]
    return tuple(str(label) for of_member in labels for label in of_member)


def _listed(model: Any, probes: Any) -> Hashable:
    found = entries(model)
    return tuple((path, str(value)) for path, value in found if not isinstance(value, float))


def _numbers(model: Any, probes: Any) -> Hashable:
    """Most are never the same twice; one without noise is, and gives its table away."""
    found = [repr(value) for _, value in entries(model) if isinstance(value, float)]
    return tuple(found[:_MAX_ENTRIES]) or None


def entries(value: Any, path: str = "", levels: int = _MAX_LEVELS) -> Iterator[tuple[str, Any]]:
    """Names, numbers and sizes in a model, each with where it stands.

    Parameters
    ----------
    value : any
        The model, or an attribute of it.
    path : str
        Where it stands.
    levels : int
        How deep to look.
    """
    if value is None or isinstance(value, bool | int | float | str | np.generic):
        yield path, value.item() if isinstance(value, np.generic) else value
    elif isinstance(value, np.ndarray):
        yield f"shape of {path}", value.shape
        if value.dtype.kind in "biufUSO":
            entry_list = value.ravel()[:_MAX_ENTRIES].tolist()
            yield from entries(entry_list, path, levels)
    elif levels and hasattr(value, "get_params"):
        for name in sorted(vars(value)):
            if name.endswith("_") and not name.startswith("_"):
                yield from entries(getattr(value, name), f"{path}.{name}".lstrip("."), levels - 1)
    elif levels and isinstance(value, Mapping):
        for key, of_key in list(value.items())[:_MAX_ENTRIES]:
            yield f"key of {path}", str(key)
            yield from entries(of_key, f"{path}[{key!r}]", levels - 1)
    elif levels and isinstance(value, list | tuple):
        yield f"length of {path}", len(value)
        for place, entry in enumerate(value[:_MAX_ENTRIES]):
            yield from entries(entry, f"{path}[{place}]", levels - 1)


def _statement(model: Any, probes: Any) -> Hashable:
    """Not if it says itself that the number of records is public: it tells it, too."""
    privacy = getattr(model, "privacy_", None)
    if not isinstance(privacy, PrivacyStatement):
        return None
    return None if any("number of records" in what for what in privacy.public) else str(privacy)


VIEWS: dict[str, View] = {
    "said": View("errors, warnings and what else the training says", lambda model, probes: None),
    "tree": View("the tree", _shape),
    "splits": View("the features on which the tree splits", _splits),
    "root": View("the split at the root", _root),
    "magnitude": View("the order of magnitude of the threshold at the root", _root_magnitude),
    "labels": View("the predictions for the records of both tables", _labels, True),
    "probabilities": View(
        f"the predicted probabilities, in steps of 1/{_STEPS}, for the records of both tables",
        _probabilities,
        True,
    ),
    "exact probabilities": View(
        "the predicted probabilities for the records of both tables", _exact_probabilities, True
    ),
    "members": View(
        "the predictions of the members of the ensemble for the records of both tables",
        _members,
        True,
    ),
    "listed": View("names, whole numbers and sizes in the model", _listed),
    "numbers": View("numbers in the model", _numbers, True),
    "statement": View("the privacy statement", _statement),
}
"""Every way in which models are looked at, by name."""
