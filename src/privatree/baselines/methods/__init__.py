"""The methods that the experiments compare, one a file.

To add a method, add a file with a ``METHOD`` and its name to the list here, which is the order of
the tables' columns.
"""

from __future__ import annotations

from importlib import import_module

from privatree._support.suggestions import did_you_mean
from privatree.baselines.methods._method import Method, Training
from privatree.errors import ParameterError

__all__ = ["Method", "Training", "get", "names"]

_FILES = (
    "decision_tree",
    "dpa",
    "bdpt",
    "privatree_star",
    "dpgdf",
    "privatree_paper",
    "diffprivlib_forest",
    "diffprivlib_tree",
    "random_tree",
    "privatree_record",
    "privatree_robust",
    "diffprivlib_logistic",
    "dp_ebm",
)
_METHODS: dict[str, Method] = {
    method.id: method for method in (import_module(f"{__name__}._{file}").METHOD for file in _FILES)
}


def names() -> tuple[str, ...]:
    """The ids of all methods, in the order of the tables."""
    return tuple(_METHODS)


def get(name: str) -> Method:
    """The method with this id."""
    if name not in _METHODS:
        raise ParameterError(
            f"method must be one of {', '.join(_METHODS)}, got {name!r}."
            f"{did_you_mean(name, tuple(_METHODS))}"
        )
    return _METHODS[name]
