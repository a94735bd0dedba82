"""What the extras of the package bring, named where it is missing."""

from __future__ import annotations

from privatree.errors import ParameterError


def missing_extra(need: str, extra: str) -> ParameterError:
    """The error that says how to install it.

    Parameters
    ----------
    need : str
        What needs which library: "plots need matplotlib".
    extra : str
        The extra that brings it.
    """
    return ParameterError(
        f"{need}, which is not installed. Install it: pip install 'privatree[{extra}]'"
    )
