"""The privacy statement of a trained model: guarantee, assumptions and cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from textwrap import TextWrapper
from typing import Any

from privatree._support.escape import escape_to_one_line
from privatree.errors import ModelFormatError, ParameterError
from privatree.privacy._budget import NEIGHBOURS
from privatree.privacy._exact_epsilon import epsilon_above
from privatree.privacy._schedule import MAX_SEQUENCES, MAX_STAGES, Schedule, Stage
from privatree.privacy._spend import Spend
from privatree.privacy._unit_words import UnitWords

MAX_TEXT_LENGTH = 10_000
"""Largest number of characters of a text in a file. Longer texts take too long to wrap."""

SCHEMA_LEAK = "schema read from the data"
"""Name of the leak of a model whose schema was read from the records and not confirmed."""

_FEW_RECORDS = (
    "So few records had a class of the schema as their label that the noise hides whether there "
    "were any. If you expected more, check the target and the spelling of the classes."
)
_FEW_UNITS = (
    "So few units had a record with a class of the schema as its label that the noise hides "
    "whether there were any. If you expected more, check the target, the spelling of the classes "
    "and the ids of the units."
)

_MAX_RECORDS = 2**61
"""Largest noisy number of records, and largest bound on its noise."""


@dataclass(frozen=True)
class Leak:
    """A fact about the records that the model reveals outside its privacy guarantee.

    Attributes
    ----------
    name : str
        Short name of the leak.
    explanation : str
        One sentence that says what is revealed.

    Examples
    --------
    >>> leak = Leak("categories", "They were read from the records.")
    >>> PrivacyStatement("a learner", float("inf"), leaks=(leak,)).leaks[0].name
    'categories'
    """

    name: str
    explanation: str


@dataclass(frozen=True)
class PrivacyStatement:
    """The privacy guarantee of a trained model, its assumptions, and every charge.

    Attributes
    ----------
    learner : str
        Name of the learner.
    epsilon, delta : float
        Guarantee for a whole record, or for all records of a unit. Epsilon is infinite if there
        are leaks.
    neighbours : {"add-remove", "replace"}
        Neighbour relation of the guarantee.
    public : tuple of str
        Everything that the guarantee assumes to be public.
    leaks : tuple of Leak
        Facts that the model reveals outside the guarantee.
    claimed_epsilon : float or None
        Epsilon that a paper claims for this learner; None unless the claim is false.
    notes : tuple of str
        Further remarks for the reader.
    seeded : bool
        Whether the noise came from a seed, and therefore is not secret.
    spends : tuple of Spend
        Every charge of the training.
    schedule : Schedule or None
        Upper bounds on what the learner could spend along a path of the tree, if known.
    noisy_records, records_error : int or None
        Noisy number of records with a known label, and a bound on its noise that holds with a
        probability of 95%; None if the learner did not draw this number.
    unit : str or None
        What the guarantee protects as a whole, such as the name of a column of persons' ids; None
        if it protects single records. The noisy number then is one of units.

    Examples
    --------
    >>> print(PrivacyStatement("a learner", 0.5, public=("the schema",)))
    Privacy statement of a learner
      epsilon for a whole record  0.5
      delta                       0
      neighbours                  datasets that differ by one record added or removed
      assumed public:
        - the schema
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
    noisy_records: int | None = None
    records_error: int | None = None
    unit: str | None = None

    def __post_init__(self) -> None:
        """Raise a ParameterError if only one of `noisy_records` and `records_error` is given.

        The schedule learns whether it is about units, whose records can be on several paths.
        """
        if (self.noisy_records is None) != (self.records_error is None):
            raise ParameterError(
                "noisy_records and records_error must both be given, or both be None."
            )
        if self.unit is not None and self.schedule is not None:
            object.__setattr__(self, "schedule", replace(self.schedule, single_path=False))

    @property
    def words(self) -> UnitWords:
        """What the guarantee protects, in words: one record, or all records of one unit."""
        return UnitWords(self.unit)

    @property
    def neighbours_text(self) -> str:
        """Which datasets are neighbours, in words."""
        return self.words.neighbours(self.neighbours)

    @property
    def records_text(self) -> str | None:
        """The noisy number of records, such as "about 1,234 (± 100)"; None if it is unknown."""
        if self.noisy_records is None or self.records_error is None:
            return None
        return shown_count(self.noisy_records, self.records_error)

    @property
    def has_few_records(self) -> bool:
        """Whether the noise alone could explain the noisy number of records."""
        if self.noisy_records is None or self.records_error is None:
            return False
        return self.noisy_records <= self.records_error

    @property
    def few_records_text(self) -> str:
        """A note for the reader if there are few records; otherwise empty."""
        if not self.has_few_records:
            return ""
        return _FEW_RECORDS if self.unit is None else _FEW_UNITS

    def __str__(self) -> str:
        """Return the statement as text of several lines."""
        lines = [f"Privacy statement of {escape_to_one_line(self.learner)}"]
        whole = f"epsilon for a whole {self.words.noun}"
        lines.append(f"  {whole:26}  {shown_amount(self.epsilon)}")
        if self.claimed_epsilon is not None:
            lines.append(f"  epsilon the paper claims    {self.claimed_epsilon:g}")
        lines.append(f"  delta                       {shown_amount(self.delta)}")
        lines.append(f"  neighbours                  {self.neighbours_text}")
        if self.records_text is not None:
            lines.append(f"  {f'usable {self.words.counted}':26}  {self.records_text}")
        notes = list(self.notes)
        if self.few_records_text:
            notes.insert(0, self.few_records_text)
        if self.seeded:
            notes.append(
                "The noise came from random_state: whoever knows the seed can remove it. "
                "Train with random_state=None before publishing."
            )
        lines += _stated_bullets("assumed public", self.public)
        lines += _stated_bullets("leaks", [f"{k.name}: {k.explanation}" for k in self.leaks])
        lines += _stated_bullets("notes", notes)
        lines += _stated_bullets("spends", _stated_spend_lines(self.spends))
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the statement as plain dictionaries and lists, as in the JSON of a model."""
        claimed = self.claimed_epsilon
        return {
            "learner": self.learner,
            "epsilon": _stated_epsilon_to_json(self.epsilon),
            "delta": self.delta,
            "neighbours": self.neighbours,
            "claimed_epsilon": None if claimed is None else _stated_epsilon_to_json(claimed),
            "public": list(self.public),
            "leaks": [asdict(leak) for leak in self.leaks],
            "notes": list(self.notes),
            "seeded": self.seeded,
            "spends": [_stated_spend_to_dict(spend) for spend in self.spends],
            "schedule": None if self.schedule is None else _stated_schedule_to_dict(self.schedule),
            **self._records_to_dict(),
            **({} if self.unit is None else {"unit": self.unit}),
        }

    def _records_to_dict(self) -> dict[str, int]:
        if self.noisy_records is None or self.records_error is None:
            return {}
        return {"noisy_records": self.noisy_records, "records_error": self.records_error}

    @classmethod
    def from_dict(cls, written: Any) -> PrivacyStatement:
        """Read a statement from the dictionary that :meth:`to_dict` returned.

        Raises
        ------
        ModelFormatError
            If anything in the dictionary is missing, unknown or not allowed.
        """
        keys = _STATEMENT_KEYS
        if isinstance(written, dict) and _RECORDS_KEYS & written.keys():
            keys = keys | {int: tuple(_RECORDS_KEYS)}  # files of older versions have neither
        if isinstance(written, dict) and "unit" in written:
            keys = keys | {str: (*keys[str], "unit")}
        fields = _stated_object("privacy", written, keys)
        _check_stated_records(fields)
        if fields["neighbours"] not in NEIGHBOURS:
            raise ModelFormatError(f"privacy: neighbours must be one of {sorted(NEIGHBOURS)}.")
        claimed = fields["claimed_epsilon"]
        return cls(
            learner=fields["learner"],
            epsilon=_stated_epsilon("epsilon", fields["epsilon"]),
            delta=_stated_number("delta", fields["delta"]),
            neighbours=fields["neighbours"],
            public=_stated_texts("public", fields["public"]),
            leaks=tuple(
                Leak(**_stated_object("a leak in privacy", leak, _LEAK_KEYS))
                for leak in fields["leaks"]
            ),
            claimed_epsilon=None
            if claimed is None
            else _stated_epsilon("claimed_epsilon", claimed),
            notes=_stated_texts("notes", fields["notes"]),
            seeded=fields["seeded"],
            spends=tuple(_stated_spend_from_dict(entry) for entry in fields["spends"]),
            schedule=_stated_schedule_from_dict(fields["schedule"]),
            noisy_records=fields.get("noisy_records"),
            records_error=fields.get("records_error"),
            unit=fields.get("unit"),
        )


# --- printing -----------------------------------------------------------------------------------


def shown_amount(amount: float) -> str:
    """Return an epsilon or delta in six digits, rounded up, so that it is never understated."""
    if math.isinf(amount):
        return "infinite: no guarantee"
    with localcontext(prec=6, rounding=ROUND_CEILING):
        return f"{float(+Decimal(repr(amount))):.6g}"


def shown_count(noisy_count: int, error: int) -> str:
    """Return a noisy number of records with the bound on its noise: "about 1,234 (± 100)"."""
    return f"about {max(0, noisy_count):,} (± {error:,})"


def _stated_bullets(title: str, entries: Sequence[str]) -> list[str]:
    bullet = TextWrapper(
        96, initial_indent="    - ", subsequent_indent="      ", break_on_hyphens=False
    )
    wrapped = [bullet.fill(escape_to_one_line(entry)) for entry in entries]
    return [f"  {title}:", *wrapped] if entries else []


def _stated_spend_lines(spends: tuple[Spend, ...]) -> list[str]:
    """Return one line for each kind of charge, in the order of the first charge of each kind."""
    nodes_by_kind: dict[tuple[str, str, Fraction, int], list[int | None]] = {}
    for spend in spends:
        kind = spend.purpose, spend.mechanism, spend.epsilon, spend.times
        nodes_by_kind.setdefault(kind, []).append(spend.node)
    lines = []
    for (purpose, mechanism, epsilon, times), nodes in nodes_by_kind.items():
        each = f"{float(epsilon):.6g}" + (f" x {times}" if times > 1 else "")
        if nodes[0] is not None:
            where = f", at node {nodes[0]}" if len(nodes) == 1 else f", at {len(nodes)} nodes"
        else:
            where = f", {len(nodes)} times" if len(nodes) > 1 else ""
        lines.append(f"{purpose}: {mechanism}, epsilon {each}{where}")
    return lines


# --- reading and writing ------------------------------------------------------------------------

_Keys = dict[type, tuple[str, ...]]
"""Keys of a JSON object, by the type of their values."""

_STATEMENT_KEYS: _Keys = {
    str: ("learner", "neighbours"),
    bool: ("seeded",),
    list: ("public", "leaks", "notes", "spends"),
    object: ("epsilon", "delta", "claimed_epsilon", "schedule"),
}
_RECORDS_KEYS = {"noisy_records", "records_error"}
_LEAK_KEYS: _Keys = {str: ("name", "explanation")}
_SPEND_KEYS: _Keys = {
    str: ("mechanism", "purpose"),
    int: ("times",),
    object: ("epsilon", "delta", "node"),
}
_SCHEDULE_KEYS: _Keys = {object: ("total", "choices", "counts"), list: ("sequences",)}


def _stated_object(where: str, written: Any, keys: _Keys) -> dict[str, Any]:
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


def _check_stated_records(fields: dict[str, Any]) -> None:
    for key in sorted(_RECORDS_KEYS & fields.keys()):
        if not -(key == "noisy_records") * _MAX_RECORDS <= fields[key] <= _MAX_RECORDS:
            raise ModelFormatError(f"privacy: {key} must be a number of records.")


def _stated_epsilon_to_json(epsilon: float) -> float | str:
    return "infinity" if math.isinf(epsilon) else epsilon


def _stated_epsilon(name: str, value: Any) -> float:
    return math.inf if value == "infinity" else _stated_number(name, value)


def _stated_number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ModelFormatError(f"privacy: {name} must be a number, got {type(value).__name__}.")
    try:
        amount = float(value)
    except OverflowError:
        amount = math.nan
    if not (math.isfinite(amount) and amount >= 0):
        raise ModelFormatError(f"privacy: {name} must be finite and >= 0, got {amount}.")
    return amount


def _stated_texts(name: str, values: list[Any]) -> tuple[str, ...]:
    if not all(isinstance(value, str) and len(value) <= MAX_TEXT_LENGTH for value in values):
        raise ModelFormatError(
            f"privacy: {name} must be a list of strings of at most {MAX_TEXT_LENGTH} characters."
        )
    return tuple(values)


def _stated_spend_to_dict(spend: Spend) -> dict[str, Any]:
    return {
        "mechanism": spend.mechanism,
        "epsilon": float(spend.epsilon),
        "delta": float(spend.delta),
        "times": spend.times,
        "purpose": spend.purpose,
        "node": spend.node,
    }


def _stated_spend_from_dict(written: Any) -> Spend:
    fields = _stated_object("a spend in privacy", written, _SPEND_KEYS)
    node = fields["node"]
    if node is not None and (isinstance(node, bool) or not isinstance(node, int) or node < 0):
        raise ModelFormatError("a spend in privacy: 'node' must be null or a number >= 0.")
    if fields["times"] < 1:
        raise ModelFormatError("a spend in privacy: 'times' must be >= 1.")
    epsilon, delta = (
        _stated_fraction(_stated_number(name, fields[name])) for name in ("epsilon", "delta")
    )
    return Spend(**{**fields, "epsilon": epsilon, "delta": delta})


@lru_cache(maxsize=1024)  # most of the thousands of spends of a model are alike
def _stated_fraction(amount: float) -> Fraction:
    return Fraction(amount)


def _stated_schedule_to_dict(schedule: Schedule) -> dict[str, Any]:
    return {
        "total": epsilon_above(schedule.total),
        "choices": epsilon_above(schedule.choices),
        "counts": epsilon_above(schedule.counts),
        "sequences": [
            [[stage.kind, epsilon_above(stage.epsilon)] for stage in path]
            for path in schedule.sequences
        ],
    }


def _stated_schedule_from_dict(written: Any) -> Schedule | None:
    if written is None:
        return None
    fields = _stated_object("the schedule in privacy", written, _SCHEDULE_KEYS)
    if len(fields["sequences"]) > MAX_SEQUENCES:
        raise ModelFormatError(
            f"privacy: the schedule must have at most {MAX_SEQUENCES} sequences."
        )
    sums = ("total", "choices", "counts")
    total, choices, counts = (Fraction(_stated_number(name, fields[name])) for name in sums)
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
                stages.append(Stage(kind, Fraction(_stated_number("epsilon of a stage", epsilon))))
            case _:
                raise ModelFormatError(
                    'privacy: each stage of the schedule must be ["count", epsilon] or '
                    '["choice", epsilon].'
                )
    return tuple(stages)
