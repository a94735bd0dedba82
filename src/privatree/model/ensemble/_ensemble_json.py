"""An ensemble as JSON: a list of rounds, with the names and labels of its schema.

The JSON is readable for people. :func:`ensemble_from_dict` checks everything in it.
"""

from __future__ import annotations

import math
from typing import Any

from privatree.errors import ModelFormatError
from privatree.model._json_labels import (
    code_of_label,
    codes_of_labels,
    labels_by_code,
    read_finite,
)
from privatree.model.ensemble._ensemble import MAX_BRANCHES, MAX_ROUNDS, MAX_SWITCHES, Ensemble
from privatree.model.ensemble._round_functions import Branch, Round, RoundFunction, Step
from privatree.schema import Categorical, Schema

_BRANCH_QUESTIONS = ("threshold", "missing", "categories")


def ensemble_to_dict(ensemble: Ensemble) -> dict[str, Any]:
    """Return an ensemble as plain dictionaries and lists, with the names of the schema."""
    writer, names = _Writer(ensemble.schema), list(ensemble.schema.features)
    start = {} if ensemble.schema.target is None else {"start": ensemble.start}
    return {
        **start,
        "step": ensemble.step,
        "intervals": {names[place]: list(ends) for place, ends in ensemble.intervals.items()},
        "monotone": {names[place]: way for place, way in ensemble.directions.items()},
        "rounds": [writer.write_round(one) for one in ensemble.rounds],
    }


class _Writer:
    def __init__(self, schema: Schema) -> None:
        self._names = list(schema.features)
        self._features = list(schema.features.values())
        self._classes = list(schema.classes)

    def write_round(self, one: Round) -> dict[str, Any]:
        written = self._write_function(one.function)
        if not self._classes:
            return {"amount": one.amounts[0], "function": written}
        if len(self._classes) == 2:
            return {"function": written}
        raised = [c for c, sign in zip(self._classes, one.amounts, strict=True) if sign > 0]
        return {"raises": raised, "function": written}

    def _write_function(self, function: RoundFunction) -> dict[str, Any]:
        feature = self._features[function.feature]
        written: dict[str, Any] = {"feature": self._names[function.feature]}
        if isinstance(function, Branch):
            if isinstance(feature, Categorical):
                written["categories"] = _labels_of(function.goes_left, feature)
            elif function.threshold == -math.inf:
                written["missing"] = True
            else:
                written["threshold"] = function.threshold
            sides = {"left": function.left, "right": function.right}
            return written | {side: self._write_function(node) for side, node in sides.items()}
        if isinstance(feature, Categorical):
            return written | {"positive": _labels_of(function.positive, feature)}
        first, switches = function.first, list(function.switches)
        if switches and switches[0] == -math.inf:
            written["missing"] = first
            first, switches = -first, switches[1:]
        return written | {"first": first, "switches": switches}


def _labels_of(mask: bytes | None, feature: Categorical) -> list[Any]:
    labels = labels_by_code(feature)
    return [labels[code] for code, entry in enumerate(mask or b"") if entry]


def _keys(schema: Schema, version: int) -> tuple[str, ...]:
    """Return the keys of an ensemble in a model file of this version."""
    if version <= 3:
        return ("step", "rounds")
    start = () if schema.target is None else ("start",)
    return (*start, "step", "intervals", "monotone", "rounds")


def ensemble_from_dict(written: Any, schema: Schema, version: int) -> Ensemble:
    """Return the ensemble that :func:`ensemble_to_dict` wrote; raise an error for mistakes.

    `version` is that of the model file.
    """
    keys = _keys(schema, version)
    if not isinstance(written, dict) or written.keys() != set(keys):
        raise ModelFormatError(
            f"an ensemble in a file of version {version} must have the keys "
            f"{', '.join(map(repr, keys))}, and no others."
        )
    rounds = written["rounds"]
    if not isinstance(rounds, list) or not 1 <= len(rounds) <= MAX_ROUNDS:
        raise ModelFormatError(f"'rounds' must be a list of 1 to {MAX_ROUNDS} rounds.")
    reader = _Reader(schema)
    read = []
    for place, entry in enumerate(rounds):
        try:
            read.append(reader.read_round(entry))
        except ModelFormatError as error:
            raise ModelFormatError(f"round {place}: {error}") from None
    return Ensemble(
        schema,
        read_finite(written["step"], "'step'"),
        tuple(read),
        reader.read_intervals(written.get("intervals", {})),
        reader.read_monotone(written.get("monotone", {})),
        0.0 if schema.target is None else read_finite(written["start"], "'start'"),
    )


class _Reader:
    def __init__(self, schema: Schema) -> None:
        self._positions = {name: position for position, name in enumerate(schema.features)}
        self._classes = codes_of_labels(schema.classes)
        self._categories = [
            codes_of_labels(labels_by_code(feature)) if isinstance(feature, Categorical) else None
            for feature in schema.features.values()
        ]
        self._separate = [feature.separates_missing for feature in schema.features.values()]
        self._n_entries = 0

    def read_round(self, entry: Any) -> Round:
        n_classes = len(self._classes)
        more = {0: {"amount"}, 2: set[str]()}.get(n_classes, {"raises"})
        wanted = {"function"} | more
        if not isinstance(entry, dict) or entry.keys() != wanted:
            raise ModelFormatError(f"a round must have the keys {sorted(wanted)}, and no others.")
        if not n_classes:  # the ensemble checks that the amount is a whole number
            return Round(self._read_function(entry["function"], 0), (entry["amount"],))
        raised = {1} if n_classes == 2 else self._read_raised(entry["raises"])
        signs = tuple(1 if place in raised else -1 for place in range(n_classes))
        return Round(self._read_function(entry["function"], 0), signs)

    def read_intervals(self, written: Any) -> dict[int, tuple[float, float]]:
        intervals = {}
        for position, ends in self._by_position(written, "'intervals'").items():
            if not isinstance(ends, list) or len(ends) != 2:
                raise ModelFormatError("an interval must be a list of two numbers.")
            low, high = (read_finite(end, "an end of an interval") for end in ends)
            intervals[position] = (low, high)
        return intervals

    def read_monotone(self, written: Any) -> dict[int, int]:
        entries = self._by_position(written, "'monotone'")
        return {place: _read_sign(way, "'monotone'") for place, way in entries.items()}

    def _by_position(self, written: Any, key: str) -> dict[int, Any]:
        if not isinstance(written, dict) or not written.keys() <= self._positions.keys():
            raise ModelFormatError(f"{key} must be an object with names of features.")
        return {self._positions[name]: entry for name, entry in written.items()}

    def _read_raised(self, labels: Any) -> set[int]:
        if not isinstance(labels, list):
            raise ModelFormatError("'raises' must be a list of classes.")
        return {code_of_label(label, self._classes, "the classes") for label in labels}

    def _read_function(self, entry: Any, n_above: int) -> RoundFunction:
        if not isinstance(entry, dict):
            raise ModelFormatError("a function must be an object.")
        name = entry.get("feature")
        if not isinstance(name, str) or name not in self._positions:
            raise ModelFormatError("'feature' must be the name of a feature of the schema.")
        position = self._positions[name]
        if "left" in entry or "right" in entry:
            return self._read_branch(entry, position, n_above)
        return self._read_step(entry, position)

    def _read_branch(self, entry: dict[str, Any], position: int, n_above: int) -> Branch:
        if n_above >= MAX_BRANCHES:
            raise ModelFormatError(f"a path must have at most {MAX_BRANCHES} branches.")
        keys = {"feature", "left", "right"}
        is_category = self._categories[position] is not None
        allowed = _BRANCH_QUESTIONS[2:] if is_category else _BRANCH_QUESTIONS[:2]
        if not any(entry.keys() == keys | {question} for question in allowed):
            raise ModelFormatError(
                "a branch on this feature must have the keys 'feature', 'left', 'right' and "
                f"{' or '.join(map(repr, allowed))}, and no others."
            )
        left, right = (self._read_function(entry[side], n_above + 1) for side in ("left", "right"))
        if is_category:
            mask = self._read_mask(entry["categories"], position)
            return Branch(position, left, right, goes_left=mask)
        if "missing" in entry:
            if entry["missing"] is not True or not self._separate[position]:
                raise ModelFormatError(
                    "'missing' must be true, on a feature whose missing values are separate."
                )
            return Branch(position, left, right, threshold=-math.inf)
        threshold = read_finite(entry["threshold"], "'threshold'")
        return Branch(position, left, right, threshold=threshold)

    def _read_step(self, entry: dict[str, Any], position: int) -> Step:
        if self._categories[position] is not None:
            if entry.keys() != {"feature", "positive"}:
                raise ModelFormatError(
                    "a step function of categories must have the keys 'feature' and 'positive', "
                    "and no others."
                )
            return Step(position, positive=self._read_mask(entry["positive"], position))
        if not {"feature", "first", "switches"} <= entry.keys() <= {
            "feature", "first", "switches", "missing"
        }:  # fmt: skip
            raise ModelFormatError(
                "a step function of a number must have the keys 'feature', 'first' and 'switches', "
                "may have 'missing', and no others."
            )
        first, switches = _read_sign(entry["first"], "'first'"), entry["switches"]
        if not isinstance(switches, list):
            raise ModelFormatError("'switches' must be a list of numbers.")
        self._count(len(switches))
        numbers = tuple(read_finite(number, "a switch") for number in switches)
        if "missing" not in entry:
            return Step(position, first=first, switches=numbers)
        if not self._separate[position]:
            raise ModelFormatError("'missing' must be on a feature with separate missing values.")
        if _read_sign(entry["missing"], "'missing'") == first:
            raise ModelFormatError("'missing' must be the other sign than 'first'.")
        return Step(position, first=-first, switches=(-math.inf, *numbers))

    def _read_mask(self, labels: Any, position: int) -> bytes:
        codes = self._categories[position]
        if not isinstance(labels, list) or codes is None:
            raise ModelFormatError("categories must be a list.")
        self._count(len(codes))
        mask = bytearray(len(codes))
        for label in labels:
            code = code_of_label(label, codes, "the feature's categories")
            if mask[code]:
                raise ModelFormatError("categories must be distinct.")
            mask[code] = 1
        return bytes(mask)

    def _count(self, n: int) -> None:
        """Refuse a file that asks for much memory, before the memory is taken."""
        self._n_entries += n
        if self._n_entries > MAX_SWITCHES:
            raise ModelFormatError(
                f"all functions together must have at most {MAX_SWITCHES} switches and categories."
            )


def _read_sign(value: Any, name: str) -> int:
    if type(value) is not int or value not in (-1, 1):
        raise ModelFormatError(f"{name} must be -1 or 1.")
    return value
