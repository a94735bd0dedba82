"""What a published method is: its options, what is proved for it, and how it grows its trees."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.baselines.growing._coding import Coding
from privatree.baselines.growing._growth import OpenNode, Rules, grow_tree
from privatree.model import Tree
from privatree.privacy import Leak, Ledger, Randomness, Spend
from privatree.schema import Schema


class Job(NamedTuple):
    """One training: what is public, the records, and the randomness."""

    schema: Schema
    epsilon: Fraction
    max_depth: int
    columns: list[NDArray[Any]]
    labels: NDArray[np.int32]
    randomness: Randomness

    def grow(self, coding: Coding, rules: Rules, ledger: Ledger) -> Grown:
        """Grow one tree level by level."""
        records = coding.bin_records(self.columns, self.labels, len(self.schema.classes))
        tree, root = grow_tree(self.schema, coding, records, rules, ledger)
        return Grown(tree, tuple(ledger.spends()), root)


class Guarantee(NamedTuple):
    """What is proved for a method, in ``docs/proofs/baselines.md``."""

    epsilon: Fraction | None
    """Proved epsilon; None if no finite one is."""
    notes: tuple[str, ...] = ()
    leaks: tuple[Leak, ...] = ()
    delta: Fraction = Fraction(0)


class Grown(NamedTuple):
    """A tree, what it cost, and its root with all that was released below it."""

    tree: Tree
    spends: tuple[Spend, ...]
    root: OpenNode | None = None

    @property
    def root_splits(self) -> frozenset[int]:
        """The candidate that the root was split on, if it was."""
        children = [] if self.root is None else self.root.children
        return frozenset(chosen for child in children for chosen in child.used)


@dataclass(frozen=True)
class PublishedMethod:
    """Base class of methods. Their options are the fields of a subclass.

    Examples
    --------
    >>> from privatree.baselines import DiffPID3
    >>> isinstance(DiffPID3(), PublishedMethod)
    True
    """

    title: ClassVar[str]
    vote: ClassVar[str] = "average"

    def check(self) -> None:
        """Raise a ParameterError if an option is out of its range."""

    def guarantee(self, job: Job) -> Guarantee:
        """Return what is proved. It must not depend on the records."""
        raise NotImplementedError

    def rules(self, job: Job) -> tuple[Coding, Rules]:
        """Return the codes and the rules of a method for one tree."""
        raise NotImplementedError

    def grow(self, job: Job) -> list[Grown]:
        """Return the trees, each with a ledger of its own. By default there is one."""
        return [job.grow(*self.rules(job), self.ledger(job))]

    def ledger(self, job: Job) -> Ledger:
        """Return a ledger whose limit is what is proved, or else claimed."""
        proved = self.guarantee(job)
        return Ledger(proved.epsilon or job.epsilon, job.randomness, delta=proved.delta)
