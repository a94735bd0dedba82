"""What the record-level learner does next at a node, decided from public values alone.

Along a path from the root the learner goes through *stages*: noisy counts, and choices by an
exponential mechanism (one split, or a whole subtree). Which stage comes next, and its budget,
follow from the schema, the parameters and the noisy counts released so far, never from a record. So
every sequence of stages that could ever happen can be listed without data
(:meth:`RecordPlan.sequences`): certificates against poisoning are about all of them."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from privatree.privacy import MAX_SEQUENCES, Schedule, Stage

SIZE_SHARE = Fraction(3, 100)
"""Of the budget, for the noisy number of records."""
LEVEL_RATIO = Fraction(8, 5)
"""How much more each level gets than the one above it."""
COUNT_SHARE = {"accuracy": Fraction(15, 100), "robust": Fraction(10, 100)}
"""Of the budget of an upper split, for the noisy class counts before it."""
ONE_BY_ONE_SIGNAL = 7.6
"""Least signal with which two levels, drawn one by one, are better than one."""
FREE_DEPTH = 10
"""Largest depth if nobody says one."""
MAX_COUNT = 2**40
"""Noisy counts are clamped to 0 .. this."""

MAX_TABLE = 2**29
"""Largest number of counts of higher order that a learner may have to hold at once."""

_CELLS = 64_000_000
"""Largest number of cells of the table of counts behind a subtree, summed over a level."""
_STEPS = 300_000_000
"""Largest number of steps that counting takes for the subtrees of a level."""
_GRIDS = {
    3: ((16, 16), (8, 16), (6, 12), (4, 8)),
    2: ((64,), (32,), (16,), (8,), (4,)),
}
"""Codes of a numeric feature on the upper levels of a subtree, the finest first."""
_MAX_CATEGORIES = {3: 128, 2: 256}
"""Of one feature: weights of subsets must stay far from the smallest numbers (``_decay.py``)."""


class CountClasses(NamedTuple):
    """Next: noisy class counts, to plan better and to centre the score of the split."""

    epsilon: Fraction


class SplitOnce(NamedTuple):
    """Next: one split."""

    epsilon: Fraction


class DrawSubtree(NamedTuple):
    """Next, and last: all remaining levels and their labels."""

    epsilon: Fraction
    grids: tuple[int, ...]
    """Codes of a numeric feature on each upper level of the subtree; one level more is there."""


@dataclass(frozen=True)
class Position:
    """Everything the plan may know of a node."""

    left: Fraction
    """Budget that its records have left."""
    noisy_size: int
    """About how many records it has."""
    depth: int
    before_counting: Fraction | None = None
    """Once its classes have been counted, the budget before."""


@dataclass(frozen=True)
class RecordPlan:
    """The parameters of the learner that decide its stages.

    Parameters
    ----------
    epsilon : Fraction
        For one record added or removed.
    n_classes : int
        How many classes there are.
    numeric_codes, categorical_codes : tuple of int
        How many codes each feature has.
    max_depth : int
        Largest depth of the tree.
    lookahead : int or None
        Levels drawn together in a subtree, 1 to 3; None: as many as the cost allows.
    robust_levels : int or None
        None: the adaptive schedule, for accuracy. Else a fixed number of levels with equal spends.
    dataset_size : int or None
        The declared size; None: a private count.
    probability_share : Fraction
        Share of epsilon for noisy class counts of the leaves.
    largest_count : int
        Noisy counts are clamped to 0 .. this.
    """

    epsilon: Fraction
    n_classes: int
    numeric_codes: tuple[int, ...]
    categorical_codes: tuple[int, ...]
    max_depth: int
    lookahead: int | None = None
    robust_levels: int | None = None
    dataset_size: int | None = None
    probability_share: Fraction = Fraction(0)
    largest_count: int = MAX_COUNT

    # --- before the tree ------------------------------------------------------------------------

    @property
    def leaf_count_epsilon(self) -> Fraction:
        """Budget of the noisy class counts of a leaf."""
        return self.epsilon * self.probability_share

    @property
    def tree_epsilon(self) -> Fraction:
        """Budget of everything else."""
        return self.epsilon - self.leaf_count_epsilon

    @property
    def size_epsilon(self) -> Fraction:
        """Budget of the noisy number of records: nothing if it is declared or not needed."""
        needed = self.robust_levels is None and self.dataset_size is None
        return self.tree_epsilon * SIZE_SHARE if needed else Fraction(0)

    def root(self, noisy_size: int) -> Position:
        """Where the tree begins, given the noisy (or declared) number of records."""
        return Position(self.tree_epsilon - self.size_epsilon, self._clamped(noisy_size), 0)

    # --- at a node ------------------------------------------------------------------------------

    def stage(self, at: Position) -> CountClasses | SplitOnce | DrawSubtree:
        """What comes next."""
        if self.robust_levels is not None:
            return self._robust_stage(at)
        n_levels = self._levels(at)
        grids = self._grids(at, n_levels)
        if len(grids) + 1 == n_levels or (not grids and self._one_level_is_better(at)):
            return DrawSubtree(at.left, grids)
        share = _level_share(n_levels)
        if at.before_counting is None:
            return CountClasses(at.left * share * COUNT_SHARE["accuracy"])
        return SplitOnce(at.before_counting * share * (1 - COUNT_SHARE["accuracy"]))

    def label(self, at: Position) -> DrawSubtree:
        """What comes next at a node that no feature can split: its label, with all that is left."""
        return DrawSubtree(at.left, ())

    def after_counting(self, at: Position, noisy_counts: list[int]) -> Position:
        """The same node once its classes have been counted."""
        spent = self.stage(at).epsilon
        return Position(at.left - spent, self._clamped(sum(noisy_counts)), at.depth, at.left)

    def child(self, at: Position) -> Position:
        """A child of the node, once it has been split."""
        spent = self.stage(at).epsilon
        return Position(at.left - spent, max(1, at.noisy_size // 2), at.depth + 1)

    def _robust_stage(self, at: Position) -> CountClasses | SplitOnce | DrawSubtree:
        n_levels = min(self.robust_levels or 1, self.max_depth)
        if at.depth == n_levels - 1:
            return DrawSubtree(at.left, ())
        level = self.tree_epsilon / n_levels
        if at.before_counting is None:
            return CountClasses(level * COUNT_SHARE["robust"])
        return SplitOnce(level * (1 - COUNT_SHARE["robust"]))

    def _levels(self, at: Position) -> int:
        """How many more levels the records and the budget can bear."""
        signal = _signal(at)
        n_levels = max(1, math.floor((signal - 2.2) / 2))
        if signal >= 4.2 or (self.n_classes > 2 and at.depth == 0):
            n_levels = max(2, n_levels)
        return min(n_levels, self.max_depth - at.depth)

    def _one_level_is_better(self, at: Position) -> bool:
        """Whether records and budget cannot bear several levels that are drawn one by one.

        This is for tables so wide that two levels cannot be drawn together. With more than two
        classes, one split cannot tell all of them apart.
        """
        enough = self.n_classes == 2 or at.depth > 0
        return self.lookahead is None and enough and _signal(at) < ONE_BY_ONE_SIGNAL

    def _grids(self, at: Position, n_levels: int) -> tuple[int, ...]:
        """Grids of the upper levels of the largest subtree that is not too dear."""
        most = min(n_levels, 3 if self.lookahead is None else self.lookahead)
        for n_together in range(most, 1, -1):
            if max(self.categorical_codes, default=0) > _MAX_CATEGORIES[n_together]:
                continue
            if self.lookahead is None and at.noisy_size > self._most_records(n_together, at.depth):
                continue
            for grids in _GRIDS[n_together]:
                if self._cells(grids) * 2**at.depth <= _CELLS:
                    return grids
            if self.lookahead is not None:
                return _GRIDS[n_together][-1]
        return ()

    def largest_table(self) -> int:
        """An upper bound on the counts of higher order that must be held at once.

        Of two levels these are the counts by the rows of one feature; of three, the counts by the
        rows of all features, for the records of one row.
        """
        if self.robust_levels is not None or self.lookahead is None:
            return _CELLS
        most = _CELLS
        for n_together in range(2, min(self.lookahead, self.max_depth) + 1):
            widest = max(self.categorical_codes, default=0)
            if widest <= _MAX_CATEGORIES[n_together]:
                coarsest = _GRIDS[n_together][-1][-1]
                n_rows = max(widest, coarsest) if n_together == 2 else self._codes(coarsest)
                most = max(most, n_rows * self.n_classes * self._codes())
        return most

    def _cells(self, grids: tuple[int, ...]) -> int:
        """Of the table of counts behind one subtree."""
        return self._codes() * self.n_classes * math.prod(map(self._codes, grids))

    def _most_records(self, n_together: int, depth: int) -> int:
        """How many records a subtree may have to count."""
        n_features = len(self.numeric_codes) + len(self.categorical_codes)
        return int(_STEPS // (n_features**n_together * 2**depth))

    def _codes(self, most: int = 2**62) -> int:
        return sum(min(codes, most) for codes in self.numeric_codes) + sum(self.categorical_codes)

    def _clamped(self, noisy_size: int) -> int:
        return min(max(1, noisy_size), self.largest_count)

    # --- without data ---------------------------------------------------------------------------

    def sequences(self) -> Iterator[tuple[Stage, ...]]:
        """Every sequence of stages along a path that any data could lead to, in time order.

        There are many if the tree may be deep: they are listed one by one, not held.
        """
        first: tuple[Stage, ...] = ()
        sizes = range(1, self.largest_count + 1)
        if self.size_epsilon:
            first = (Stage("count", self.size_epsilon),)
        elif self.dataset_size is not None:
            size = self._clamped(self.dataset_size)
            sizes = range(size, size + 1)
        last: tuple[Stage, ...] = ()
        if self.leaf_count_epsilon:
            last = (Stage("count", self.leaf_count_epsilon),)
        for path in self._paths(self.root(1), sizes):
            yield first + path + last

    def schedule(self) -> Schedule:
        """All sequences, or bounds on them if they are too many to list."""
        return _schedule(self)

    def _paths(self, at: Position, sizes: range) -> Iterator[tuple[Stage, ...]]:
        """The rest of a path, from a node with any of these noisy sizes."""
        if at.before_counting is None and self._can_be_exhausted(at.depth):
            yield (Stage("choice", at.left),)
        for part in self._alike(at, sizes):
            here = replace(at, noisy_size=part[0])
            stage = self.stage(here)
            match stage:
                case DrawSubtree():
                    yield (Stage("choice", stage.epsilon),)
                case CountClasses():
                    onward = self.after_counting(here, [1])
                    rest = self._paths(onward, range(1, self.largest_count + 1))
                    yield from ((Stage("count", stage.epsilon), *path) for path in rest)
                case SplitOnce():
                    halves = range(max(1, part[0] // 2), max(1, part[-1] // 2) + 1)
                    rest = self._paths(self.child(here), halves)
                    yield from ((Stage("choice", stage.epsilon), *path) for path in rest)

    def _alike(self, at: Position, sizes: range) -> Iterator[range]:
        """Ranges of sizes with the same next stage."""

        def levels(size: int) -> int:
            return self._levels(replace(at, noisy_size=size))

        def signal(size: int) -> float:
            return _signal(replace(at, noisy_size=size))

        edges = {
            bisect_left(sizes, n_levels, key=levels) + sizes[0]
            for n_levels in range(2, self.max_depth - at.depth + 1)
        }
        edges.add(bisect_left(sizes, ONE_BY_ONE_SIGNAL, key=signal) + sizes[0])
        edges |= {self._most_records(n_together, at.depth) + 1 for n_together in (2, 3)}
        inner = sorted(edge for edge in edges if sizes[0] < edge <= sizes[-1])
        start = sizes[0]
        for edge in inner:
            above, below = (self.stage(replace(at, noisy_size=size)) for size in (edge, edge - 1))
            if (type(above), above.epsilon) != (type(below), below.epsilon):
                yield range(start, edge)
                start = edge
        yield range(start, sizes[-1] + 1)

    def _can_be_exhausted(self, depth: int) -> bool:
        """Whether so many splits can leave no feature with two codes."""
        codes = self.numeric_codes + self.categorical_codes
        return sum(n_codes >= 2 for n_codes in codes) <= depth

    def most_counts(self) -> Fraction:
        """Upper bound on what counts can add up to along a path, without listing the sequences.

        After a count and a split, which take shares of what is left that depend on a number of
        levels each, a child begins anew with the rest: the bound is a multiple of what is left.
        """
        most = Fraction(0)
        for levels_left in range(2, self.max_depth + 1):
            shares = [_level_share(n_levels) for n_levels in range(2, levels_left + 1)]
            count, choice = (COUNT_SHARE["accuracy"], 1 - COUNT_SHARE["accuracy"])
            rest = [1 - count * before - choice * min(shares) for before in shares]
            most = max(
                count * before + max(Fraction(0), left) * most
                for before, left in zip(shares, rest, strict=True)
            )
        return self.size_epsilon + self.leaf_count_epsilon + self.root(1).left * most


def _signal(at: Position) -> float:
    """Logarithm of what tells levels apart: records times budget."""
    return math.log2(at.noisy_size) + math.log2(at.left)


def _level_share(n_levels: int) -> Fraction:
    """Share of the highest of some levels, each with so much more than the one above."""
    return (LEVEL_RATIO - 1) / (LEVEL_RATIO**n_levels - 1)


@lru_cache(maxsize=64)
def _schedule(plan: RecordPlan) -> Schedule:
    sequences = tuple(islice(plan.sequences(), MAX_SEQUENCES + 1))
    if len(sequences) > MAX_SEQUENCES:
        return Schedule(plan.epsilon, plan.tree_epsilon, plan.most_counts())

    def most(kind: str) -> Fraction:
        return max(
            sum((stage.epsilon for stage in path if stage.kind == kind), Fraction(0))
            for path in sequences
        )

    return Schedule(plan.epsilon, most("choice"), most("count"), sequences)
