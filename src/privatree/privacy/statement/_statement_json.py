"""Reading and writing the parts of a privacy statement as JSON. What is read is checked."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

from privatree.errors import ModelFormatError, ParameterError
from privatree.privacy._exact_epsilon import epsilon_above
from privatree.privacy._schedule import MAX_SEQUENCES, MAX_STAGES, Schedule, Stage
from privatree.privacy._spend import Spend
from privatree.privacy.composition._composition import Composition, RangeGroup

MAX_TEXT_LENGTH = 10_000
"""Largest number of characters of a text in a file. Longer texts take too long to wrap."""

_MAX_RECORDS = 2**61
"""Largest noisy number of records, and largest bound on its noise."""
_MAX_GROUPS = 100
"""Largest number of groups of a composition."""

Keys = dict[type, tuple[str, ...]]
"""Keys of a JSON object, by the type of their values."""

STATEMENT_KEYS: Keys = {
    str: ("learner", "neighbours"),
    bool: ("seeded",),
    list: ("public", "leaks", "notes", "spends"),
    object: ("epsilon", "delta", "claimed_epsilon", "schedule"),
}
RECORDS_KEYS = {"noisy_records", "records_error"}
LEAK_KEYS: Keys = {str: ("name", "explanation")}
_SPEND_KEYS: Keys = {
    str: ("mechanism", "purpose"),
    int: ("times",),
    object: ("epsilon", "delta", "node"),
}
_SCHEDULE_KEYS: Keys = {object: ("total", "choices", "counts"), list: ("sequences",)}
_COMPOSITION_KEYS: Keys = {object: ("epsilon", "delta"), list: ("groups",)}


def stated_object(where: str, written: Any, keys: Keys) -> dict[str, Any]:
    """Return the JSON object; raise a ModelFormatError if its keys or types are wrong."""
    if not isinstance(written, dict):
        raise ModelFormatError(f"{where} must be a JSON object.")
    types = {key: kind for kind, of_kind in keys.items() for key in of_kind}
    for key in sorted(types.keys() ^ written.keys(), key=repr):
        problem = f"{key!r} is missing" if key in types else f"unknown key {key!r}"
        raise ModelFormatError(f"{where}: {problem}.")
    for key, value in written.items():
        kind = types[key]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise ModelFormatError(f"{where}: {key!r} must be of type {kind.__name__}.")
        if isinstance(value, str) and len(value) > MAX_TEXT_LENGTH:
            raise ModelFormatError(
                f"{where}: {key!r} must have at most {MAX_TEXT_LENGTH} characters."
            )
    return written


def check_stated_records(fields: dict[str, Any]) -> None:
    """Raise a ModelFormatError if the noisy number of records or its error is impossible."""
    for key in sorted(RECORDS_KEYS & fields.keys()):
        if not -(key == "noisy_records") * _MAX_RECORDS <= fields[key] <= _MAX_RECORDS:
            raise ModelFormatError(f"privacy: {key} must be a number of records.")


def stated_epsilon_to_json(epsilon: float) -> float | str:
    """Return an epsilon for a file: JSON has no infinity."""
    return "infinity" if math.isinf(epsilon) else epsilon


def stated_epsilon(name: str, value: Any) -> float:
    """Return the epsilon that :func:`stated_epsilon_to_json` wrote."""
    return math.inf if value == "infinity" else stated_number(name, value)


def stated_number(name: str, value: Any) -> float:
    """Return a finite number >= 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ModelFormatError(f"privacy: {name} must be a number.")
    try:
        amount = float(value)
    except OverflowError:
        amount = math.nan
    if not (math.isfinite(amount) and amount >= 0):
        raise ModelFormatError(f"privacy: {name} must be finite and >= 0, got {amount}.")
    return amount


def stated_texts(name: str, values: list[Any]) -> tuple[str, ...]:
    """Return a list of texts that are not too long."""
    if not all(isinstance(value, str) and len(value) <= MAX_TEXT_LENGTH for value in values):
        raise ModelFormatError(
            f"privacy: {name} must be a list of strings of at most {MAX_TEXT_LENGTH} characters."
        )
    return tuple(values)


def stated_spend_to_dict(spend: Spend) -> dict[str, Any]:
    """Return a spend. `is_range` is written only if it is true: older versions do not know it."""
    return {
        "mechanism": spend.mechanism,
        "epsilon": float(spend.epsilon),
        "delta": float(spend.delta),
        "times": spend.times,
        "purpose": spend.purpose,
        "node": spend.node,
        **({"is_range": True} if spend.is_range else {}),
    }


def stated_spend_from_dict(written: Any) -> Spend:
    """Return the spend that :func:`stated_spend_to_dict` wrote."""
    keys = _SPEND_KEYS
    if isinstance(written, dict) and "is_range" in written:
        keys = keys | {bool: ("is_range",)}
    fields = stated_object("a spend in privacy", written, keys)
    node = fields["node"]
    if node is not None and (isinstance(node, bool) or not isinstance(node, int) or node < 0):
        raise ModelFormatError("a spend in privacy: 'node' must be null or a number >= 0.")
    if fields["times"] < 1:
        raise ModelFormatError("a spend in privacy: 'times' must be >= 1.")
    epsilon, delta = (
        _stated_fraction(stated_number(name, fields[name])) for name in ("epsilon", "delta")
    )
    return Spend(**{**fields, "epsilon": epsilon, "delta": delta})


@lru_cache(maxsize=1024)  # most of the thousands of spends of a model are alike
def _stated_fraction(amount: float) -> Fraction:
    return Fraction(amount)


def stated_schedule_to_dict(schedule: Schedule) -> dict[str, Any]:
    """Return a schedule, with amounts that are rounded up."""
    return {
        "total": epsilon_above(schedule.total),
        "choices": epsilon_above(schedule.choices),
        "counts": epsilon_above(schedule.counts),
        "sequences": [
            [[stage.kind, epsilon_above(stage.epsilon)] for stage in path]
            for path in schedule.sequences
        ],
    }


def stated_schedule_from_dict(written: Any) -> Schedule | None:
    """Return the schedule that :func:`stated_schedule_to_dict` wrote."""
    if written is None:
        return None
    fields = stated_object("the schedule in privacy", written, _SCHEDULE_KEYS)
    if len(fields["sequences"]) > MAX_SEQUENCES:
        raise ModelFormatError(
            f"privacy: the schedule must have at most {MAX_SEQUENCES} sequences."
        )
    sums = ("total", "choices", "counts")
    total, choices, counts = (Fraction(stated_number(name, fields[name])) for name in sums)
    sequences = tuple(_stated_stages_from_list(path) for path in fields["sequences"])
    try:
        return Schedule(total, choices, counts, sequences)
    except ParameterError as error:
        raise ModelFormatError(f"privacy: {error}") from None


def _stated_stages_from_list(written: Any) -> tuple[Stage, ...]:
    stages = []
    if isinstance(written, list) and len(written) > MAX_STAGES:
        raise ModelFormatError(
            f"privacy: each sequence of the schedule must have at most {MAX_STAGES} stages."
        )
    for entry in written if isinstance(written, list) else [None]:
        match entry:
            case ["count" | "choice" as kind, epsilon]:
                stages.append(Stage(kind, Fraction(stated_number("epsilon of a stage", epsilon))))
            case _:
                raise ModelFormatError(
                    'privacy: each stage of the schedule must be ["count", epsilon] or '
                    '["choice", epsilon].'
                )
    return tuple(stages)


def stated_composition_to_dict(composition: Composition) -> dict[str, Any]:
    """Return a composition, with amounts that are rounded up."""
    return {
        "epsilon": epsilon_above(composition.epsilon),
        "delta": epsilon_above(composition.delta),
        "groups": [[epsilon_above(group.epsilon), group.times] for group in composition.groups],
    }


def stated_composition_from_dict(written: Any) -> Composition:
    """Return the composition that :func:`stated_composition_to_dict` wrote."""
    fields = stated_object("the composition in privacy", written, _COMPOSITION_KEYS)
    if len(fields["groups"]) > _MAX_GROUPS:
        raise ModelFormatError(
            f"privacy: the composition must have at most {_MAX_GROUPS} groups of draws."
        )
    epsilon, delta = (Fraction(stated_number(name, fields[name])) for name in ("epsilon", "delta"))
    groups = tuple(_stated_group_from_list(group) for group in fields["groups"])
    try:
        return Composition(epsilon, delta, groups)
    except ParameterError as error:
        raise ModelFormatError(f"privacy, the composition: {error}") from None


def _stated_group_from_list(written: Any) -> RangeGroup:
    match written:
        case [epsilon, int(times)] if not isinstance(times, bool) and times > 0:
            return RangeGroup(Fraction(stated_number("range of a draw", epsilon)), times)
        case _:
            raise ModelFormatError(
                "privacy: each group of the composition must be [range, number of draws]."
            )
