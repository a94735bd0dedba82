"""The error for an optional dependency that is not installed."""

from __future__ import annotations

from privatree.errors import ParameterError


def missing_extra(need: str, extra: str) -> ParameterError:
    """Return an error with `need`, such as "plots need matplotlib", and how to install it."""
    return ParameterError(
        f"{need}, which is not installed. Install it: pip install 'privatree[{extra}]'"
    )
