"""The privacy statement of a trained model: what is promised, on what assumptions, at what cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from itertools import groupby
from textwrap import TextWrapper
from typing import Any

from privatree._support.escape import escape_to_one_line
from privatree.errors import ModelFormatError, ParameterError
from privatree.privacy._exact_epsilon import rounded_up
from privatree.privacy._ledger import Spend
from privatree.privacy._schedule import MAX_SEQUENCES, MAX_STAGES, Schedule, Stage

MAX_TEXT_LENGTH = 10_000
"""In a file; wrapping the lines of longer ones takes long."""

SCHEMA_LEAK = "schema read from the data"
"""The name of the leak of a model whose schema nobody has confirmed."""

_NEIGHBOURS = {
    "add-remove": "datasets that differ by one record added or removed",
    "replace": "datasets that differ in one record",
}


@dataclass(frozen=True)
class Leak:
    """Something outside the guarantee that the model reveals."""

    name: str
    explanation: str


@dataclass(frozen=True)
class PrivacyStatement:
    """What a trained model promises about the records it was trained on.

    Attributes
    ----------
    learner : str
        Name of the learner.
    epsilon, delta : float
        What holds for a whole record; infinite if there are leaks.
    neighbours : {"add-remove", "replace"}
        Between which datasets it holds.
    public : tuple of str
        What is assumed public.
    leaks : tuple of Leak
        What the model reveals outside the guarantee.
    claimed_epsilon : float or None
        What a publication claims for this learner, where it differs from what holds.
    notes : tuple of str
        What else a reader should know.
    seeded : bool
        Whether the noise came from a seed, and so is not secret.
    spends : tuple of Spend
        Every charge.
    schedule : Schedule or None
        What the learner could have spent along any path, if it can say so.
    """

    learner: str
    epsilon: float
    delta: float = 0.0
    neighbours: str = "add-remove"
    public: tuple[str, ...] = ()
    leaks: tuple[Leak, ...] = ()
    claimed_epsilon: float | None = None
    notes: tuple[str, ...] = ()
    seeded: bool = False
    spends: tuple[Spend, ...] = field(default=(), repr=False)
    schedule: Schedule | None = field(default=None, repr=False)

    def __str__(self) -> str:
        """The statement in plain words."""
        lines = [f"Privacy statement of {escape_to_one_line(self.learner)}"]
        lines.append(f"  epsilon for a whole record  {shown_amount(self.epsilon)}")
        if self.claimed_epsilon is not None:
            lines.append(f"  epsilon the paper claims    {self.claimed_epsilon:g}")
        lines.append(f"  delta                       {shown_amount(self.delta)}")
        lines.append(f"  neighbours                  {_NEIGHBOURS[self.neighbours]}")
        lines += _block("assumed public", self.public)
        lines += _block("leaks", [f"{leak.name}: {leak.explanation}" for leak in self.leaks])
        lines += _block("notes", self._all_notes())
        lines += _block("spends", _summary(self.spends))
        return "\n".join(lines)

    def _all_notes(self) -> list[str]:
        notes = list(self.notes)
        if self.seeded:
            notes.append(
                "The noise came from random_state: whoever knows the seed can remove it. "
                "Train with random_state=None before publishing."
            )
        return notes

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionaries and lists, as in a model's JSON."""
        return {
            "learner": self.learner,
            "epsilon": _written(self.epsilon),
            "delta": self.delta,
            "neighbours": self.neighbours,
            "claimed_epsilon": None
            if self.claimed_epsilon is None
            else _written(self.claimed_epsilon),
            "public": list(self.public),
            "leaks": [{"name": k.name, "explanation": k.explanation} for k in self.leaks],
            "notes": list(self.notes),
            "seeded": self.seeded,
            "spends": [_spend_to_dict(spend) for spend in self.spends],
            "schedule": None if self.schedule is None else _schedule_to_dict(self.schedule),
        }

    @classmethod
    def from_dict(cls, written: Any) -> PrivacyStatement:
        """Read what :meth:`to_dict` wrote; every mistake is a :class:`ModelFormatError`."""
        table = _Table("privacy", written)
        neighbours = table.take("neighbours", str)
        if neighbours not in _NEIGHBOURS:
            raise ModelFormatError(f"privacy: neighbours must be one of {sorted(_NEIGHBOURS)}.")
        claimed = table.take("claimed_epsilon", object)
        statement = cls(
            learner=table.take("learner", str),
            epsilon=_amount("epsilon", table.take("epsilon", object)),
            delta=_finite("delta", table.take("delta", object)),
            neighbours=neighbours,
            public=_strings("public", table.take("public", list)),
            leaks=tuple(_leak_from_dict(entry) for entry in table.take("leaks", list)),
            claimed_epsilon=None if claimed is None else _amount("claimed_epsilon", claimed),
            notes=_strings("notes", table.take("notes", list)),
            seeded=table.take("seeded", bool),
            spends=tuple(_spend_from_dict(entry) for entry in table.take("spends", list)),
            schedule=_schedule_from_dict(table.take("schedule", object)),
        )
        table.finish()
        return statement


# --- printing -----------------------------------------------------------------------------------


def shown_amount(amount: float) -> str:
    """An amount in six digits, rounded up: never less than it is."""
    if math.isinf(amount):
        return "infinite: no guarantee"
    with localcontext(prec=6, rounding=ROUND_CEILING):
        return f"{float(+Decimal(repr(amount))):.6g}"


def _block(title: str, entries: Sequence[str]) -> list[str]:
    if not entries:
        return []
    bullet = TextWrapper(
        96, initial_indent="    - ", subsequent_indent="      ", break_on_hyphens=False
    )
    wrapped = [bullet.fill(escape_to_one_line(entry)) for entry in entries]
    return [f"  {title}:", *wrapped]


def _summary(spends: tuple[Spend, ...]) -> list[str]:
    """Equal charges on one line."""

    def kind(spend: Spend) -> tuple[str, str, Fraction, int]:
        return spend.purpose, spend.mechanism, spend.epsilon, spend.times

    order = {key: place for place, key in reversed(list(enumerate(map(kind, spends))))}
    lines = []
    for key, group in groupby(sorted(spends, key=lambda s: order[kind(s)]), kind):
        purpose, mechanism, epsilon, times = key
        nodes = [spend.node for spend in group]
        each = f"{float(epsilon):.6g}" + (f" x {times}" if times > 1 else "")
        where = "" if nodes[0] is None else f", at {_nodes(nodes)}"
        many = f", {len(nodes)} times" if nodes[0] is None and len(nodes) > 1 else ""
        lines.append(f"{purpose}: {mechanism}, epsilon {each}{many}{where}")
    return lines


def _nodes(nodes: list[int | None]) -> str:
    return f"node {nodes[0]}" if len(nodes) == 1 else f"{len(nodes)} nodes"


# --- reading and writing ------------------------------------------------------------------------


class _Table:
    """A JSON object of which every key must be read once."""

    def __init__(self, where: str, written: Any) -> None:
        if not isinstance(written, dict):
            raise ModelFormatError(f"{where}: must be an object.")
        self._where, self._left = where, dict(written)

    def take(self, key: str, kind: type) -> Any:
        if key not in self._left:
            raise ModelFormatError(f"{self._where}: {key!r} is missing.")
        value = self._left.pop(key)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise ModelFormatError(f"{self._where}: {key!r} must be of type {kind.__name__}.")
        if isinstance(value, str) and len(value) > MAX_TEXT_LENGTH:
            raise ModelFormatError(
                f"{self._where}: {key!r} must be at most {MAX_TEXT_LENGTH} characters."
            )
        return value

    def finish(self) -> None:
        if self._left:
            raise ModelFormatError(f"{self._where}: unknown key {min(self._left, key=repr)!r}.")


def _written(amount: float) -> float | str:
    return "infinity" if math.isinf(amount) else amount


def _amount(name: str, value: Any) -> float:
    if value == "infinity":
        return math.inf
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ModelFormatError(f"privacy: {name} must be a number.")
    try:
        amount = float(value)
    except OverflowError:
        amount = math.nan
    if not (math.isfinite(amount) and amount >= 0):
        raise ModelFormatError(f"privacy: {name} must be finite and >= 0.")
    return amount


def _strings(name: str, values: list[Any]) -> tuple[str, ...]:
    if not all(isinstance(value, str) and len(value) <= MAX_TEXT_LENGTH for value in values):
        raise ModelFormatError(
            f"privacy: {name} must be a list of strings of at most {MAX_TEXT_LENGTH} characters."
        )
    return tuple(values)


def _leak_from_dict(written: Any) -> Leak:
    table = _Table("privacy: leak", written)
    leak = Leak(table.take("name", str), table.take("explanation", str))
    table.finish()
    return leak


def _spend_to_dict(spend: Spend) -> dict[str, Any]:
    return {
        "mechanism": spend.mechanism,
        "epsilon": float(spend.epsilon),
        "delta": float(spend.delta),
        "times": spend.times,
        "purpose": spend.purpose,
        "node": spend.node,
    }


def _spend_from_dict(written: Any) -> Spend:
    table = _Table("privacy: spend", written)
    node = table.take("node", object)
    if node is not None and (isinstance(node, bool) or not isinstance(node, int) or node < 0):
        raise ModelFormatError("privacy: spend: 'node' must be null or a number >= 0.")
    times = table.take("times", int)
    if times < 1:
        raise ModelFormatError("privacy: spend: 'times' must be >= 1.")
    spend = Spend(
        mechanism=table.take("mechanism", str),
        epsilon=_exact(_finite("epsilon", table.take("epsilon", object))),
        purpose=table.take("purpose", str),
        node=node,
        times=times,
        delta=_exact(_finite("delta", table.take("delta", object))),
    )
    table.finish()
    return spend


def _finite(name: str, value: Any) -> float:
    amount = _amount(name, value)
    if math.isinf(amount):
        raise ModelFormatError(f"privacy: {name} must be finite.")
    return amount


@lru_cache(maxsize=1024)  # of thousands of spends most are alike
def _exact(amount: float) -> Fraction:
    return Fraction(amount)


def _schedule_to_dict(schedule: Schedule) -> dict[str, Any]:
    return {
        "total": rounded_up(schedule.total),
        "choices": rounded_up(schedule.choices),
        "counts": rounded_up(schedule.counts),
        "sequences": [
            [[stage.kind, rounded_up(stage.epsilon)] for stage in path]
            for path in schedule.sequences
        ],
    }


def _schedule_from_dict(written: Any) -> Schedule | None:
    if written is None:
        return None
    table = _Table("privacy: schedule", written)
    amounts = {
        name: Fraction(_finite(name, table.take(name, object)))
        for name in ("total", "choices", "counts")
    }
    written_sequences = table.take("sequences", list)
    table.finish()
    if len(written_sequences) > MAX_SEQUENCES:
        raise ModelFormatError(
            f"privacy: schedule: there must be at most {MAX_SEQUENCES} sequences."
        )
    sequences = tuple(_stages(path) for path in written_sequences)
    try:
        return Schedule(**amounts, sequences=sequences)
    except ParameterError as error:
        raise ModelFormatError(f"privacy: {error}") from None


def _stages(written: Any) -> tuple[Stage, ...]:
    stages = []
    if isinstance(written, list) and len(written) > MAX_STAGES:
        raise ModelFormatError(f"privacy: schedule: a path must be at most {MAX_STAGES} stages.")
    for entry in written if isinstance(written, list) else [None]:
        match entry:
            case ["count" | "choice" as kind, epsilon]:
                stages.append(Stage(kind, Fraction(_finite("epsilon of a stage", epsilon))))
            case _:
                raise ModelFormatError(
                    'privacy: schedule: a stage must be ["count" or "choice", epsilon].'
                )
    return tuple(stages)
