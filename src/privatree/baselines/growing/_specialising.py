"""The draws of DiffGen and DT-Diff: general values are specialised, in all leaves at once.

A *value* is a set of codes of one feature. At first each feature has one value, all of its codes.
To specialise a value is to replace it by its parts, in every leaf that has it. So a draw needs the
class counts of each feature's codes, and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privatree.baselines.growing._coding import Coding, write_split
from privatree.errors import ParameterError
from privatree.model import MAX_NODES, Tree, TreeBuilder
from privatree.privacy import Randomness
from privatree.privacy.mechanisms import Exponential
from privatree.schema import Schema

Taxonomy: TypeAlias = Sequence[Any]
"""Codes, or lists of them, and so on: [0, [1, 2]]."""


class Value(NamedTuple):
    """A general value, with the parts that it can be replaced by."""

    position: int
    parts: tuple[Any, ...] | None
    """For a category: codes and taxonomies. None for a number."""
    codes: range | None = None
    """For a number: the codes of the interval."""


@dataclass(frozen=True)
class OnDisjointRecords:
    """One draw for each of several disjoint sets of records, at the cost of one."""

    mechanism: Exponential

    @property
    def name(self) -> str:
        return self.mechanism.name

    @property
    def epsilon(self) -> Fraction:
        return self.mechanism.epsilon

    def release(self, exact: Sequence[NDArray[np.float64]], randomness: Randomness) -> list[int]:
        return [self.mechanism.release(scores, randomness) for scores in exact]


class Step(NamedTuple):
    """One specialisation: a value, and its parts."""

    value: Value
    parts: tuple[Value, ...]


@dataclass
class Specialisation:
    """The general values so far, and the steps that led to them."""

    coding: Coding
    exact_counts: NDArray[np.int64]
    """Counts (class, code) of all records."""
    taxonomies: dict[int, Taxonomy]
    """Taxonomies of features, by position; by default all categories are parts of one value."""

    def __post_init__(self) -> None:
        self.values: list[Value] = []
        self.steps: list[Step] = []
        for position, (n, cuts) in enumerate(
            zip(self.coding.n_codes, self.coding.cuts, strict=True)
        ):
            if cuts is None:
                parts = tuple(self.taxonomies.get(position, range(n)))
                self.values.append(Value(position, parts))
            else:
                self.values.append(Value(position, None, range(n)))

    def ways(self, value: Value) -> list[tuple[Value, ...]]:
        """Return all ways to specialise a value: none, one, or one for each threshold."""
        position, parts, codes = value
        if codes is not None:
            halves = [(range(codes.start, k), range(k, codes.stop)) for k in codes[1:]]
            return [tuple(Value(position, None, half) for half in two) for two in halves]
        if parts is None or len(parts) < 2:
            return []
        return [tuple(Value(position, (p,) if _is_code(p) else tuple(p)) for p in parts)]

    def counts(self, parts: Sequence[Value]) -> NDArray[np.int64]:
        """Return exact counts (class, part)."""
        first = np.cumsum((0, *self.coding.n_codes))[parts[0].position]
        columns = [self.exact_counts[:, first + codes_of(part)].sum(axis=1) for part in parts]
        return np.column_stack(columns)

    def has_room(self, value: Value, n_parts: int) -> bool:
        """Return whether the tree has room for one more step. It follows from the steps alone."""
        sizes = dict.fromkeys(range(len(self.coding.n_codes)), 0)
        for other in self.values:
            sizes[other.position] += 1
        sizes[value.position] += n_parts - 1
        return 2 * math.prod(sizes.values()) <= MAX_NODES

    def specialise(self, value: Value, parts: tuple[Value, ...]) -> None:
        self.values.remove(value)
        self.values += parts
        self.steps.append(Step(value, parts))

    @staticmethod
    def _has(own: dict[int, Value], value: Value) -> bool:
        """Return whether a leaf has a value, if `own` are its values of specialised features."""
        return own.get(value.position, value) == value

    def write(self, schema: Schema) -> Tree:
        """Return the tree of all leaves, without labels yet: every leaf has the first class."""
        builder = TreeBuilder(schema)
        waiting = [(builder.root, 0, dict[int, Value]())]
        while waiting:
            node, done, own = waiting.pop()
            while done < len(self.steps) and not self._has(own, self.steps[done].value):
                done += 1
            if done == len(self.steps):
                builder.leaf(node, 0)
                continue
            value, parts = self.steps[done]
            position = value.position
            child_of_code = np.zeros(self.coding.n_codes[position], dtype=np.int32)
            for child, part in enumerate(parts):
                child_of_code[codes_of(part)] = child
                if part.codes is not None:  # codes beyond the interval go the way of its end
                    child_of_code[part.codes.stop :] = child
            feature, cuts = self.coding.features[position], self.coding.cuts[position]
            numbers = write_split(builder, node, feature, cuts, child_of_code)
            for part, copies in zip(parts, numbers, strict=True):
                waiting += [(n, done + 1, {**own, position: part}) for n in copies]
        return builder.build()


def taxonomy_codes(schema: Schema, name: str, taxonomy: Taxonomy) -> Taxonomy:
    """Return a taxonomy of codes for one of categories, each of which it must have once."""
    feature = schema.features[name]
    place = {c: code for code, c in enumerate(getattr(feature, "categories", ()))}
    found = list[Any]()

    def coded(part: Any) -> Any:
        if isinstance(part, list | tuple):
            return tuple(coded(one) for one in part)
        found.append(part)
        return place.get(part)

    codes = tuple(coded(part) for part in taxonomy)
    if len(found) != len(place) or set(found) != set(place):
        raise ParameterError(
            f"taxonomies must have every category of {name!r} exactly once.", "taxonomies"
        )
    return codes


def codes_of(value: Value) -> NDArray[np.int64]:
    """Return all codes of a value."""
    found = list[int]()
    waiting = list[Any](value.parts if value.codes is None else value.codes)  # type: ignore[arg-type]
    while waiting:
        part = waiting.pop()
        if _is_code(part):
            found.append(int(part))
        else:
            waiting += list(part)
    return np.array(found, dtype=np.int64)


def _is_code(part: Any) -> bool:
    return isinstance(part, int | np.integer)
