"""The privacy statement of a trained model: guarantee, assumptions and cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from textwrap import TextWrapper
from typing import Any

from privatree._support.escape import escape_to_one_line
from privatree.errors import ModelFormatError, ParameterError
from privatree.privacy._budget import NEIGHBOURS
from privatree.privacy._exact_epsilon import format_epsilon
from privatree.privacy._schedule import Schedule
from privatree.privacy._spend import Spend
from privatree.privacy._unit_words import UnitWords
from privatree.privacy.composition._composition import Composition
from privatree.privacy.statement._holdout import Holdout
from privatree.privacy.statement._statement_json import (
    LEAK_KEYS,
    RECORDS_KEYS,
    STATEMENT_KEYS,
    check_stated_records,
    stated_composition_from_dict,
    stated_composition_to_dict,
    stated_epsilon,
    stated_epsilon_to_json,
    stated_number,
    stated_object,
    stated_schedule_from_dict,
    stated_schedule_to_dict,
    stated_spend_from_dict,
    stated_spend_to_dict,
    stated_texts,
)

SCHEMA_LEAK = "schema read from the data"
"""Name of the leak of a model whose schema was read from the records and not confirmed."""

_FEW_RECORDS = (
    "So few records had a label or target that fits the schema that the noise hides whether there "
    "were any. If you expected more, check the target and, if there are classes, their spelling."
)
_FEW_UNITS = (
    "So few units had a record with a label or target that fits the schema that the noise hides "
    "whether there were any. If you expected more, check the target, the ids of the units and, if "
    "there are classes, their spelling."
)


_ROUNDED = Fraction(1, 10**12)
"""Share of an amount that rounding to a float can add, and more."""


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
    composition : Composition or None
        What the spends that are ranges cost together; None if there are no such spends.
    holdout : Holdout or None
        The held-out part, whose records only the scores of the model are about, and what was spent
        on it. Epsilon is then the larger one of the model and of the scores. None if the model was
        trained on all records.

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
    composition: Composition | None = field(default=None, repr=False)
    holdout: Holdout | None = field(default=None, repr=False)

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
    def model_epsilon(self) -> float:
        """Guarantee of the model without its scores."""
        return self.epsilon if self.holdout is None else self.holdout.model_epsilon

    @property
    def records_counted(self) -> str:
        """What the noisy number counts, such as "usable records"."""
        return f"{'usable' if self.holdout is None else 'training'} {self.words.counted}"

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
            lines.append(f"  {self.records_counted:26}  {self.records_text}")
        if self.holdout is not None:
            lines += self._holdout_lines(self.holdout)
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
        spends = [*_stated_spend_lines(self.spends), *_stated_composition_lines(self.composition)]
        lines += _stated_bullets("spends", spends)
        if self.holdout is not None:
            spends = _stated_spend_lines(self.holdout.spends)
            lines += _stated_bullets("spends on the held-out part", spends)
        return "\n".join(lines)

    def _holdout_lines(self, holdout: Holdout) -> list[str]:
        each = f"each {self.words.noun} with probability {holdout.percent}"
        model, scores = map(shown_amount, (holdout.model_epsilon, holdout.score_epsilon))
        return [
            f"  {'held-out part':26}  {each}",
            f"  {'epsilon of the model':26}  {model}, from the training part",
            f"  {'epsilon of its scores':26}  {scores}, from the held-out part",
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the statement as plain dictionaries and lists, as in the JSON of a model."""
        claimed = self.claimed_epsilon
        return {
            "learner": self.learner,
            "epsilon": stated_epsilon_to_json(self.epsilon),
            "delta": self.delta,
            "neighbours": self.neighbours,
            "claimed_epsilon": None if claimed is None else stated_epsilon_to_json(claimed),
            "public": list(self.public),
            "leaks": [asdict(leak) for leak in self.leaks],
            "notes": list(self.notes),
            "seeded": self.seeded,
            "spends": [stated_spend_to_dict(spend) for spend in self.spends],
            "schedule": None if self.schedule is None else stated_schedule_to_dict(self.schedule),
            **self._records_to_dict(),
            **({} if self.unit is None else {"unit": self.unit}),
            **self._composition_to_dict(),
            **({} if self.holdout is None else {"holdout": self.holdout.to_dict()}),
        }

    def _records_to_dict(self) -> dict[str, int]:
        if self.noisy_records is None or self.records_error is None:
            return {}
        return {"noisy_records": self.noisy_records, "records_error": self.records_error}

    def _composition_to_dict(self) -> dict[str, Any]:
        if self.composition is None:
            return {}
        return {"composition": stated_composition_to_dict(self.composition)}

    @classmethod
    def from_dict(cls, written: Any) -> PrivacyStatement:
        """Read a statement from the dictionary that :meth:`to_dict` returned.

        Raises
        ------
        ModelFormatError
            If anything in the dictionary is missing, unknown or not allowed.
        """
        keys = STATEMENT_KEYS
        if isinstance(written, dict) and RECORDS_KEYS & written.keys():
            keys = keys | {int: tuple(RECORDS_KEYS)}  # files of older versions have neither
        if isinstance(written, dict) and "unit" in written:
            keys = keys | {str: (*keys[str], "unit")}
        if isinstance(written, dict) and "composition" in written:
            keys = keys | {dict: ("composition",)}
        if isinstance(written, dict) and "holdout" in written:
            keys = keys | {dict: (*keys.get(dict, ()), "holdout")}
        fields = stated_object("privacy", written, keys)
        check_stated_records(fields)
        if fields["neighbours"] not in NEIGHBOURS:
            raise ModelFormatError(f"privacy: neighbours must be one of {sorted(NEIGHBOURS)}.")
        claimed = fields["claimed_epsilon"]
        return cls(
            learner=fields["learner"],
            epsilon=stated_epsilon("epsilon", fields["epsilon"]),
            delta=stated_number("delta", fields["delta"]),
            neighbours=fields["neighbours"],
            public=stated_texts("public", fields["public"]),
            leaks=tuple(
                Leak(**stated_object("a leak in privacy", leak, LEAK_KEYS))
                for leak in fields["leaks"]
            ),
            claimed_epsilon=None if claimed is None else stated_epsilon("claimed_epsilon", claimed),
            notes=stated_texts("notes", fields["notes"]),
            seeded=fields["seeded"],
            spends=tuple(stated_spend_from_dict(entry) for entry in fields["spends"]),
            schedule=stated_schedule_from_dict(fields["schedule"]),
            noisy_records=fields.get("noisy_records"),
            records_error=fields.get("records_error"),
            unit=fields.get("unit"),
            composition=stated_composition_from_dict(fields["composition"])
            if "composition" in fields
            else None,
            holdout=Holdout.from_dict(fields["holdout"]) if "holdout" in fields else None,
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
    nodes_by_kind: dict[tuple[str, str, Fraction, int, bool], list[int | None]] = {}
    for spend in spends:
        kind = spend.purpose, spend.mechanism, spend.epsilon, spend.times, spend.is_range
        nodes_by_kind.setdefault(kind, []).append(spend.node)
    lines = []
    for (purpose, mechanism, epsilon, times, is_range), nodes in nodes_by_kind.items():
        each = f"{float(epsilon):.6g}" + (f" x {times}" if times > 1 else "")
        if nodes[0] is not None:
            where = f", at node {nodes[0]}" if len(nodes) == 1 else f", at {len(nodes)} nodes"
        else:
            where = f", {len(nodes)} times" if len(nodes) > 1 else ""
        lines.append(f"{purpose}: {mechanism}, {'range' if is_range else 'epsilon'} {each}{where}")
    return lines


def _stated_composition_lines(composition: Composition | None) -> list[str]:
    if composition is None:
        return []
    # A file has amounts that were rounded up to floats: this must not show in the sixth digit.
    amounts = (amount * (1 - _ROUNDED) for amount in (composition.epsilon, composition.delta))
    epsilon, delta = (format_epsilon(amount, up=True) for amount in amounts)
    return [
        f"the {composition.n_draws} ranges together: epsilon {epsilon} and delta {delta} "
        "(adaptive composition of bounded-range draws)"
    ]
