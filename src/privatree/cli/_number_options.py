"""Options of ``fit`` that only models of a number have, and those that only classifiers have."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from privatree.errors import ParameterError

_NUMBERS = "Only for a numeric target"

LeafValues = Annotated[
    Literal["mean", "median"] | None,
    typer.Option(
        show_default=False,
        rich_help_panel=_NUMBERS,
        help="What a leaf of a tree predicts. mean, the default, spends about 18% of epsilon on "
        "means, numbers of records and coarse distributions of the leaves. median spends all of it "
        "on the tree.",
    ),
]
Interval = Annotated[
    str | None,
    typer.Option(
        metavar="LOW,HIGH",
        show_default=False,
        rich_help_panel=_NUMBERS,
        help="Interval that most targets lie in, if it is public knowledge. It saves the share of "
        "epsilon for which the interval is drawn.",
    ),
]


def check_options_of_outcome(
    schema: Any, for_classes: dict[str, Any], for_numbers: dict[str, Any]
) -> None:
    """Raise ParameterError for an option that does not belong to what the schema predicts.

    None means that an option was not given. Without a schema, classes are predicted.
    """
    is_number = schema is not None and schema.target is not None
    wrong = for_classes if is_number else for_numbers
    right = "classes" if is_number else "a target, which is a number"
    for name, value in wrong.items():
        if value is not None:
            raise ParameterError(
                f"--{name.replace('_', '-')} must be used with a schema that has {right}."
            )


def number_parameters(
    model: str, parameters: dict[str, Any], leaf_values: str | None, interval: str | None
) -> dict[str, Any]:
    """Return the parameters of a regressor, given those of the classifier of the same kind."""
    kept = {
        name: value
        for name, value in parameters.items()
        if name not in ("class_weight", "probability_share")
    }
    if model == "tree":
        kept["leaf_values"] = leaf_values or "mean"
    return kept | {"interval": None if interval is None else _parse_interval(interval)}


def _parse_interval(given: str) -> tuple[float, ...]:
    try:
        ends = tuple(float(end) for end in given.split(","))
    except ValueError:
        ends = ()
    if len(ends) != 2:
        raise ParameterError(f"--interval must be two numbers, such as 0,100, got {given!r}.")
    return ends
