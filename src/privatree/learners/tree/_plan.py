"""The next stage of the record-level learner at a node, decided from public values alone.

Along a path from the root the learner goes through *stages*: noisy counts, and choices by an
exponential mechanism (one split, or a whole subtree). Which stage comes next, and its budget,
follow from the schema, the parameters and the noisy counts released so far, never from a record. So
every possible sequence of stages can be listed without data (:meth:`RecordPlan.sequences`).
Certificates against poisoning hold for all of these sequences."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import chain, islice, pairwise
from typing import ClassVar, NamedTuple

from privatree.learners.first_steps import BALANCE_SHARE, MAX_COUNT, SIZE_SHARE, count_error
from privatree.learners.zoom import zoom_evidence
from privatree.privacy import MAX_SEQUENCES, Schedule, Stage

LEVEL_RATIO = Fraction(8, 5)
"""Budget of a level, divided by the budget of the level above."""
COUNT_SHARE = {"accuracy": Fraction(15, 100), "robust": Fraction(10, 100)}
"""Share of a split's budget for the noisy class counts before the split."""
SMALL_STOP_SHARES = (0.05, 0.6, 0.1)
"""Base measure of "no split on this level" for a small signal, with 1, 2 or 3 levels left."""
LARGE_STOP_SHARE = 0.98
"""Base measure of "no split on this level" for a large signal, with any number of levels left."""
STOP_SIGNALS = (6.0, 12.0)
"""Largest signal that counts as small, and smallest that counts as large; see ``signal_of``."""
LEAF_COUNT_SHARE = Fraction(5, 100)
"""Share of the budget for noisy class counts of the leaves, if the signal is large enough."""
LEAF_COUNT_SIGNAL = 8.0
"""Smallest signal of the whole dataset at which counts of the leaves are worth their budget."""
ZOOM_SHARE = Fraction(3, 100)
"""Share of the budget for the intervals of all numeric features, if there is enough evidence."""
ZOOM_EVIDENCE = 26
"""Smallest ``zoom_evidence`` at which intervals are drawn: it is enough for eight levels."""
DOMINANT_SHARE = 0.9
"""A class dominates a dataset if it has at least this share of all records."""
ONE_BY_ONE_SIGNAL = 7.6
"""Smallest signal at which two levels, drawn one by one, are better than one level."""
FREE_DEPTH = 10
"""Largest depth of a tree with ``max_depth=None``."""
MAX_TABLE = 2**29
"""Largest number of counts of pairs and triples that a learner may hold in memory at once."""
_CELLS = 64_000_000
"""Largest number of cells in the tables of counts of all subtrees of a level."""
_STEPS = 300_000_000
"""Largest number of steps to count the records for all subtrees of a level."""
_GRIDS = {
    3: ((16, 16), (8, 16), (6, 12), (4, 8)),
    2: ((64,), (32,), (16,), (8,), (4,)),
}
"""Possible numbers of codes per numeric feature on each upper level, by number of levels."""
_MAX_CATEGORIES = {3: 128, 2: 256}
"""Largest number of categories of one feature, by the number of levels drawn together.

The weights of subsets must stay far from the smallest floats (``privacy/samplers/_decay.py``)."""


class CountClasses(NamedTuple):
    """The stage that releases noisy class counts, for the plan and for the score of the split."""

    epsilon: Fraction


class SplitOnce(NamedTuple):
    epsilon: Fraction


class DrawSubtree(NamedTuple):
    """The last stage, which draws all remaining levels and their labels."""

    epsilon: Fraction
    grids: tuple[int, ...]
    """Number of codes of a numeric feature on each upper level; the lowest level has all codes."""
    stop_shares: tuple[float, ...]
    """Base measure of "no split on this level" for each level, the highest first."""


@dataclass(frozen=True)
class Position:
    """Everything that the plan may know about a node."""

    left: Fraction
    """Budget that is left for the node's records."""
    noisy_size: int
    """Estimate of the number of records, from released values."""
    depth: int
    before_counting: Fraction | None = None
    """Budget that was left before the class counts; None if they are not released yet."""
    one_class_dominates: bool = False
    """Whether one class had nearly all records in the noisy class counts of the root."""


@dataclass(frozen=True)
class RecordPlan:
    """The parameters of the learner that decide its stages."""

    epsilon: Fraction
    """Budget for one record added or removed."""
    n_classes: int
    numeric_codes: tuple[int, ...]
    """Number of codes of each numeric feature."""
    categorical_codes: tuple[int, ...]
    """Number of codes of each categorical feature."""
    max_depth: int
    lookahead: int | None = None
    """Number of levels drawn together, 1 to 3; None for as many as the cost allows."""
    robust_levels: int | None = None
    """Fixed number of levels with equal budgets; None for the adaptive schedule."""
    dataset_size: int | None = None
    """Declared number of records; None if it is not declared."""
    probability_share: Fraction | None = Fraction(0)
    """Share of epsilon for noisy class counts of the leaves; None to choose it by noisy size."""
    n_zoomed: int = 0
    """Number of numeric features for which an interval can be drawn."""
    class_factors: tuple[int, ...] | None = None
    """Public weight of each class, from 1 to `FULL_FACTOR`; None: all classes weigh the same."""
    balances_classes: bool = False
    """Whether the weights of the classes follow from noisy class counts."""
    min_records: int | None = None
    """Declared number of records below which the training stops; None to never stop."""
    largest_count: int = MAX_COUNT
    """Noisy counts are clamped to the range from 0 to this number."""

    _stage_signals: ClassVar[tuple[float, ...]] = (ONE_BY_ONE_SIGNAL,)
    """Signals at which the kind of the next stage changes."""

    @property
    def size_epsilon(self) -> Fraction:
        """Budget of the noisy number of records; 0 if this number is declared or not needed."""
        unknown = self.robust_levels is None and self.dataset_size is None
        return self._free_epsilon * SIZE_SHARE if unknown or self.min_records else Fraction(0)

    @property
    def _free_epsilon(self) -> Fraction:
        """Budget that is left after a fixed share for the leaves, if there is one."""
        return self.epsilon * (1 - (self.probability_share or 0))

    @property
    def balance_epsilon(self) -> Fraction:
        """Budget of the noisy class counts for balanced class weights; 0 if there are none."""
        return self._free_epsilon * BALANCE_SHARE if self.balances_classes else Fraction(0)

    def size_error(self, full_weight: int = 1) -> int:
        """Return a bound on the noise in the number of records, true with a probability of 95%."""
        return count_error(self.size_epsilon, full_weight)

    def planning_size(self, noisy_size: int | None) -> int:
        """Return the number of records to plan with: declared, noisy, or 1 if neither is known."""
        return self._clamp_size(self.dataset_size or noisy_size or 1)

    def leaf_count_epsilon(self, noisy_size: int) -> Fraction:
        """Return the budget of the noisy class counts of a leaf, given the root's noisy size."""
        if self.probability_share is not None:
            return self.epsilon * self.probability_share
        signal = math.log2(self._clamp_size(noisy_size)) + math.log2(self.epsilon)
        worth_it = self.robust_levels is None and signal >= LEAF_COUNT_SIGNAL
        return self.epsilon * LEAF_COUNT_SHARE if worth_it else Fraction(0)

    def interval_epsilon(self, noisy_size: int) -> Fraction:
        """Return the budget of the interval of a numeric feature, given the root's noisy size."""
        if not self.n_zoomed or self.robust_levels is not None:
            return Fraction(0)
        epsilon = self._free_epsilon * ZOOM_SHARE / self.n_zoomed
        worth_it = zoom_evidence(self._clamp_size(noisy_size), epsilon) >= ZOOM_EVIDENCE
        return epsilon if worth_it else Fraction(0)

    def before_root(self, noisy_size: int) -> tuple[Stage, ...]:
        """Return the stages before the first stage of the root, the counts first."""
        counted = (self.size_epsilon, self.balance_epsilon)
        interval = self.interval_epsilon(noisy_size)
        intervals = (Stage("choice", interval),) * self.n_zoomed if interval else ()
        return (*(Stage("count", epsilon) for epsilon in counted if epsilon), *intervals)

    def root(self, noisy_size: int) -> Position:
        """Return the position of the root, given the noisy (or declared) number of records."""
        left = self.epsilon - self.leaf_count_epsilon(noisy_size)
        left -= sum((stage.epsilon for stage in self.before_root(noisy_size)), Fraction(0))
        return Position(left, self._clamp_size(noisy_size), 0)

    def stage(self, at: Position) -> CountClasses | SplitOnce | DrawSubtree:
        if self.robust_levels is not None:
            return self._robust_stage(at)
        n_levels = self._affordable_levels(at)
        grids = self._subtree_grids(at, n_levels)
        if len(grids) + 1 == n_levels or (not grids and self._one_level_is_better(at)):
            return self._draw_subtree(at, grids)
        share = _level_share(n_levels)
        if at.before_counting is None:
            return CountClasses(at.left * share * COUNT_SHARE["accuracy"])
        return SplitOnce(at.before_counting * share * (1 - COUNT_SHARE["accuracy"]))

    def label(self, at: Position) -> DrawSubtree:
        """Return the last stage of a node that cannot be split: a label, with all budget left."""
        return self._draw_subtree(at, ())

    def _draw_subtree(self, at: Position, grids: tuple[int, ...]) -> DrawSubtree:
        small = SMALL_STOP_SHARES[len(grids) :: -1]
        return DrawSubtree(at.left, grids, tuple(self._stop_share(at, share) for share in small))

    def _stop_share(self, at: Position, small: float) -> float:
        """Return the base measure of "no split on this level", given that of a small signal.

        A split with an empty side classifies as well as no split. With many records and a large
        budget, a large base measure excludes such splits. Otherwise it would exclude good splits,
        too.
        """
        low, high = STOP_SIGNALS
        place = min(max((signal_of(at) - low) / (high - low), 0.0), 1.0)
        share: float = 1.0 - (1.0 - small) ** (1.0 - place) * (1.0 - LARGE_STOP_SHARE) ** place
        return round(1024 * share) / 1024  # the same on every machine

    def after_counting(self, at: Position, noisy_counts: list[int]) -> Position:
        """Return the position of the same node once its noisy class counts are released."""
        spent, size = self.stage(at).epsilon, sum(noisy_counts)
        dominates = at.one_class_dominates
        if at.depth == 0:
            dominates = self._dominates(noisy_counts)
        return Position(at.left - spent, self._clamp_size(size), at.depth, at.left, dominates)

    def _dominates(self, noisy_counts: Sequence[int]) -> bool:
        return max(noisy_counts) >= DOMINANT_SHARE * sum(noisy_counts)

    def child(self, at: Position) -> Position:
        spent = self.stage(at).epsilon
        size, dominates = max(1, at.noisy_size // 2), at.one_class_dominates
        return Position(at.left - spent, size, at.depth + 1, None, dominates)

    def _robust_stage(self, at: Position) -> CountClasses | SplitOnce | DrawSubtree:
        n_levels = min(self.robust_levels or 1, self.max_depth)
        if at.depth == n_levels - 1:
            return self._draw_subtree(at, ())
        level = self.root(1).left / n_levels
        if at.before_counting is None:
            return CountClasses(level * COUNT_SHARE["robust"])
        return SplitOnce(level * (1 - COUNT_SHARE["robust"]))

    def _affordable_levels(self, at: Position) -> int:
        """Return for how many more levels there are enough records and budget."""
        signal = signal_of(at)
        n_levels = max(1, math.floor((signal - 2.2) / 2))
        if signal >= 4.2 or (self.n_classes > 2 and at.depth == 0):
            n_levels = max(2, n_levels)
        return min(n_levels, self.max_depth - at.depth)

    def _one_level_is_better(self, at: Position) -> bool:
        """Return whether records and budget are too few for several levels drawn one by one.

        This matters for datasets so wide that two levels cannot be drawn together. With more than
        two classes, one split cannot tell all classes apart.
        """
        enough = self.n_classes == 2 or at.depth > 0
        return self.lookahead is None and enough and signal_of(at) < ONE_BY_ONE_SIGNAL

    def _subtree_grids(self, at: Position, n_levels: int) -> tuple[int, ...]:
        """Return the grids of the upper levels of the largest subtree that is affordable."""
        if self.lookahead is None and at.one_class_dominates:
            return ()  # subtrees classify well without a split; splits by score do separate classes
        most = min(n_levels, 3 if self.lookahead is None else self.lookahead)
        for n_together in range(most, 1, -1):
            if max(self.categorical_codes, default=0) > _MAX_CATEGORIES[n_together]:
                continue
            if self.lookahead is None and at.noisy_size > self._max_records(n_together, at.depth):
                continue
            for grids in _GRIDS[n_together]:
                if self._table_cells(grids) * 2**at.depth <= _CELLS:
                    return grids
            if self.lookahead is not None:
                return _GRIDS[n_together][-1]
        return ()

    def largest_table(self) -> int:
        """Return an upper bound on the number of counts that must be in memory at once.

        With two levels, these are the counts for each row of one feature. With three levels, they
        are the counts for each row of all features, among the records of one row.
        """
        if self.robust_levels is not None or self.lookahead is None:
            return _CELLS
        most = _CELLS
        for n_together in range(2, min(self.lookahead, self.max_depth) + 1):
            widest = max(self.categorical_codes, default=0)
            if widest <= _MAX_CATEGORIES[n_together]:
                coarsest = _GRIDS[n_together][-1][-1]
                n_rows = max(widest, coarsest) if n_together == 2 else self._sum_of_codes(coarsest)
                most = max(most, n_rows * self.n_classes * self._sum_of_codes())
        return most

    def _table_cells(self, grids: tuple[int, ...]) -> int:
        return self._sum_of_codes() * self.n_classes * math.prod(map(self._sum_of_codes, grids))

    def _max_records(self, n_together: int, depth: int) -> int:
        """Return the largest number of records for which counting a subtree is affordable."""
        n_features = len(self.numeric_codes) + len(self.categorical_codes)
        return int(_STEPS // (n_features**n_together * 2**depth))

    def _sum_of_codes(self, most: int = 2**62) -> int:
        return sum(min(codes, most) for codes in self.numeric_codes) + sum(self.categorical_codes)

    def _clamp_size(self, noisy_size: int) -> int:
        return min(max(1, noisy_size), self.largest_count)

    def sequences(self) -> Iterator[tuple[Stage, ...]]:
        """Yield every sequence of stages that can occur along a path, whatever the records are.

        A deep tree has many sequences, so they are made one by one and not kept in memory.
        """
        sizes = range(1, self.largest_count + 1)
        if self.dataset_size is not None:
            size = self._clamp_size(self.dataset_size)
            sizes = range(size, size + 1)
        edges = {
            bisect_left(sizes, True, key=lambda size: bool(epsilon(size)))
            for epsilon in (self.leaf_count_epsilon, self.interval_epsilon)
        }
        for start, stop in pairwise(sorted({0, *edges, len(sizes)})):
            part = sizes[start:stop]
            first, counts = self.before_root(part[0]), self.leaf_count_epsilon(part[0])
            last = (Stage("count", counts),) if counts else ()
            for path in self._rests_of_paths(self.root(part[0]), part):
                yield first + path + last

    def schedule(self) -> Schedule:
        """Return the schedule: all sequences, or bounds on their spends if they are too many."""
        return _cached_schedule(self)

    def _rests_of_paths(self, at: Position, sizes: range) -> Iterator[tuple[Stage, ...]]:
        """Yield every sequence of stages from a node on, for each of these noisy sizes."""
        if at.before_counting is None and self._features_can_run_out(at.depth):
            yield (Stage("choice", at.left),)
        for part in self._ranges_with_same_stage(at, sizes):
            here = replace(at, noisy_size=part[0])
            stage = self.stage(here)
            match stage:
                case DrawSubtree():
                    yield (Stage("choice", stage.epsilon),)
                case CountClasses():
                    counts = [[1, 1]]  # no class dominates
                    if at.depth == 0 and self.robust_levels is None and self.lookahead is None:
                        counts.append([1, 0])  # one does, which then makes a difference
                    any_size = range(1, self.largest_count + 1)
                    rests = chain.from_iterable(
                        self._rests_of_paths(self.after_counting(here, noisy_counts), any_size)
                        for noisy_counts in counts
                    )
                    yield from ((Stage("count", stage.epsilon), *path) for path in _distinct(rests))
                case SplitOnce():
                    halves = range(max(1, part[0] // 2), max(1, part[-1] // 2) + 1)
                    rest = self._rests_of_paths(self.child(here), halves)
                    yield from ((Stage("choice", stage.epsilon), *path) for path in rest)

    def _ranges_with_same_stage(self, at: Position, sizes: range) -> Iterator[range]:
        """Yield ranges of noisy sizes that lead to the same next stage."""

        def levels(size: int) -> int:
            return self._affordable_levels(replace(at, noisy_size=size))

        def signal(size: int) -> float:
            return signal_of(replace(at, noisy_size=size))

        edges = {
            bisect_left(sizes, n_levels, key=levels) + sizes[0]
            for n_levels in range(2, self.max_depth - at.depth + 1)
        }
        edges |= {bisect_left(sizes, edge, key=signal) + sizes[0] for edge in self._stage_signals}
        edges |= {self._max_records(n_together, at.depth) + 1 for n_together in (2, 3)}
        inner = sorted(edge for edge in edges if sizes[0] < edge <= sizes[-1])
        start = sizes[0]
        for edge in inner:
            above, below = (self.stage(replace(at, noisy_size=size)) for size in (edge, edge - 1))
            if (type(above), above.epsilon) != (type(below), below.epsilon):
                yield range(start, edge)
                start = edge
        yield range(start, sizes[-1] + 1)

    def _features_can_run_out(self, depth: int) -> bool:
        """Return whether, after `depth` splits, a node can have no feature with two codes."""
        codes = self.numeric_codes + self.categorical_codes
        return sum(n_codes >= 2 for n_codes in codes) <= depth

    def most_counts(self) -> Fraction:
        """Return an upper bound on the budget of all counts along a path, without listing paths.

        A count and a split each take a share of the budget that is left. The share depends on the
        number of levels. The same holds for a child and the rest of the budget. So the bound is a
        multiple of the budget at the root.
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
        leaf_counts = self.leaf_count_epsilon(self.dataset_size or self.largest_count)
        first = self.size_epsilon + self.balance_epsilon
        return first + leaf_counts + self.root(1).left * most


def signal_of(at: Position) -> float:
    """Return log2(records * budget), which decides how many levels are worth drawing."""
    return math.log2(at.noisy_size) + math.log2(at.left)


def _distinct(paths: Iterable[tuple[Stage, ...]]) -> Iterator[tuple[Stage, ...]]:
    seen = set[tuple[Stage, ...]]()
    for path in paths:
        if path not in seen:
            seen.add(path)
            yield path


def _level_share(n_levels: int) -> Fraction:
    """Return the share of the budget for the highest of `n_levels` levels."""
    return (LEVEL_RATIO - 1) / (LEVEL_RATIO**n_levels - 1)


@lru_cache(maxsize=64)
def _cached_schedule(plan: RecordPlan) -> Schedule:
    sequences = tuple(islice(plan.sequences(), MAX_SEQUENCES + 1))
    if len(sequences) > MAX_SEQUENCES:
        most_choices = plan.epsilon - plan.leaf_count_epsilon(plan.dataset_size or 1)
        return Schedule(plan.epsilon, most_choices, plan.most_counts())

    def most(kind: str) -> Fraction:
        return max(
            sum((stage.epsilon for stage in path if stage.kind == kind), Fraction(0))
            for path in sequences
        )

    return Schedule(plan.epsilon, most("choice"), most("count"), sequences)
