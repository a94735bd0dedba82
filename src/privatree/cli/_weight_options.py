"""Options that say who a row is about, and how much records and classes weigh."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

import typer

from privatree.errors import ParameterError

UNIT_HELP = "The column that says who a row is about, such as patient_id."
Unit = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        show_default=False,
        help=f"{UNIT_HELP} Epsilon then holds for all records of a person together, and each "
        "person weighs as much as one record. The default is unit of the schema.",
    ),
]
Weight = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column of weights. What is negative or not a number weighs 0.",
    ),
]
MaxWeight = Annotated[
    float | None,
    typer.Option(
        metavar="W",
        show_default=False,
        help="With --weight: the largest weight, by public knowledge. Larger weights are clipped "
        "to it. The default is 1.",
    ),
]
ClassWeight = Annotated[
    str | None,
    typer.Option(
        metavar="balanced|A=W,B=V",
        help="Weights of the classes, such as yes=5,no=1. balanced makes rare classes count as "
        "much as frequent ones, and spends 2% of epsilon on it.",
    ),
]
_CLASS_AND_WEIGHT = re.compile(r"(?P<label>.+?)=(?P<weight>[^,=]*)(?:,|$)")
"""A label may contain commas and equals signs: the weight is after the last of the latter."""


def check_weight_options(
    *, unit: str | None, weight: str | None, max_weight: float | None, has_schema: bool
) -> None:
    """Raise a ParameterError if an option lacks another one that it needs."""
    for option, given in (("unit", unit), ("weight", weight)):
        if given is not None and not has_schema:
            raise ParameterError(f"--{option} must be used with --schema. Pass both.")
    if max_weight is not None and weight is None:
        raise ParameterError(
            "--max-weight must be used with --weight, which names the column of weights. Pass both."
        )


def schema_with_unit(schema: Any, unit: str | None) -> Any:
    """Return a schema whose unit is the one that the option names, if it names one."""
    return schema if unit is None else replace(schema, unit=unit, unit_confirmed=True)


def parse_class_weight(given: str | None) -> str | dict[str, float] | None:
    """Return what ``--class-weight`` says: a word, or the weight of each label as it is written."""
    if given is None or given == "balanced":
        return given
    weights: dict[str, float] = {}
    place = 0
    try:
        while place < len(given):
            found = _CLASS_AND_WEIGHT.match(given, place)
            if found is None or found["label"].strip() in weights:
                raise ValueError
            weights[found["label"].strip()] = float(found["weight"])
            place = found.end()
    except ValueError:
        weights = {}
    if not weights:
        raise ParameterError(
            "--class-weight must be balanced, or a weight for each class, such as yes=5,no=1, got "
            f"{given!r}."
        )
    return weights


def class_weight_of_labels(
    parsed: str | Mapping[str, float] | None, schema: Any
) -> str | dict[Any, float] | None:
    """Return ``class_weight`` for a learner, with the labels of the schema as keys.

    What is no label stays as it is, and the learner refuses it.
    """
    if parsed is None or isinstance(parsed, str):
        return parsed
    if schema is None:
        raise ParameterError(
            "--class-weight must be balanced, or be used with --schema, which names the classes."
        )
    labels = _labels_by_text(schema.classes)
    return {labels.get(text, text): weight for text, weight in parsed.items()}


def _labels_by_text(classes: Sequence[Any]) -> dict[str, Any]:
    """Return the labels by what a user writes for them; a truth value as in the schema file."""
    return {
        str(label).lower() if isinstance(label, bool) else str(label): label for label in classes
    }
