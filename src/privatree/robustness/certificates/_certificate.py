"""What a certificate says, for every number of poisoned records: tables, text, plot and file."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from privatree._support.validation import is_number
from privatree.errors import ParameterError
from privatree.privacy import PrivacyStatement
from privatree.repetition import check_confidence
from privatree.robustness.certificates._majority import Majority
from privatree.robustness.certificates._preconditions import claimed_spending, guaranteed_spending
from privatree.robustness.poisoning_bounds._bounds import Certified, Spending, best, bounds
from privatree.robustness.poisoning_bounds._tolerance import most_edits

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Certificate:
    """A bound on the mean of a score after poisoning; see its two kinds.

    Parameters
    ----------
    privacy : PrivacyStatement
        Of the learner: epsilon, what is assumed public, and what it can spend on a path.
    estimate : float
        The average score of the refits, on the training records as they are.
    clean_bound : float
        The mean score on these records is no worse than this, with the confidence.
    confidence : float
        Probability over the refits that the whole certificate is right: at least this.
    refits, n_train, n_test : int
        How many refits, training and test records there were.
    poisoned : tuple of int
        The numbers of edits that tables show.
    claimed_by : str or None
        Who claims the epsilon, if the learner does not guarantee it.
    notes : tuple of str
        What else a reader should know.
    majority : Majority or None
        What always giving the most frequent answer would have, for an accuracy.
    """

    privacy: PrivacyStatement
    estimate: float
    clean_bound: float
    confidence: float
    refits: int
    n_train: int
    n_test: int
    poisoned: tuple[int, ...]
    claimed_by: str | None = None
    notes: tuple[str, ...] = ()
    majority: Majority | None = None

    kind: ClassVar[str]
    """In a file."""
    score: ClassVar[str]
    """In a text."""
    more_is_better: ClassVar[bool]

    def __post_init__(self) -> None:
        """Refuse what is not a certificate; a file might hold anything."""
        _ = self.spending
        check_confidence(self.confidence)
        if not (0 <= self.estimate <= 1 and 0 <= self.clean_bound <= 1):
            raise ParameterError("estimate and clean_bound must be from 0 to 1.")
        if (
            (self.clean_bound > self.estimate)
            if self.more_is_better
            else (self.clean_bound < self.estimate)
        ):
            raise ParameterError("clean_bound must not be better than the estimate.", "clean_bound")
        if min(self.refits, self.n_train, self.n_test) < 1 or min(self.poisoned, default=0) < 0:
            raise ParameterError("refits and records must be >= 1, poisoned records >= 0.")

    @cached_property
    def spending(self) -> Spending:
        """What the learner can spend, which the bounds rest on."""
        known = guaranteed_spending if self.claimed_by is None else claimed_spending
        return known(self.privacy)

    @property
    def learner(self) -> str:
        """Name of the learner."""
        return self.privacy.learner

    @property
    def epsilon(self) -> float:
        """Of the learner; claimed, if somebody claims it."""
        claimed = self.privacy.claimed_epsilon
        return self.privacy.epsilon if claimed is None else claimed

    @property
    def promise(self) -> str:
        """What the figures are called in tables: nothing is guaranteed by a claim."""
        return "guaranteed" if self.claimed_by is None else "if claimed"

    def guarantee(self, edits: int) -> float:
        """The worst mean score after so many records added or removed."""
        return self._certified(edits).value

    def bounds(self, edits: int) -> dict[str, float]:
        """Every bound on the mean score after so many edits, by its letter."""
        found = bounds(self.spending, self._good, edits)
        return {letter: self._as_score(value) for letter, value in found.items()}

    def tolerates(self, score: float) -> int | None:
        """The largest number of edits after which the mean score is still as good as this.

        Parameters
        ----------
        score : float
            An accuracy, > 0 and <= 1; or an attack success rate, >= 0 and < 1.

        Returns
        -------
        int or None
            None if the score is not certain even without an edit; 0 if only without one.
        """
        wanted = (score if self.more_is_better else 1.0 - score) if is_number(score) else math.nan
        if not 0 < wanted <= 1:
            allowed = "> 0 and <= 1" if self.more_is_better else ">= 0 and < 1"
            raise ParameterError(f"score must be {allowed}, got {score!r}. 70% is 0.7.", "score")
        return most_edits(lambda edits: best(self.spending, self._good, edits).value >= wanted)

    def table(self) -> pd.DataFrame:
        """A row for each number of poisoned records, with the best bound and all of them."""
        import pandas as pd

        rows = [
            {
                "poisoned": edits,
                "share": edits / self.n_train,
                self.promise: certified.value,
                "bound": certified.bound,
                **all_bounds,
            }
            for edits, certified, all_bounds in self.rows
        ]
        return pd.DataFrame(rows)

    @cached_property
    def rows(self) -> tuple[tuple[int, Certified, dict[str, float]], ...]:
        """For each number of poisoned records the guarantee, and every bound by its letter.

        Without an edit all bounds are equal, and none is named.
        """
        return tuple((edits, self._certified(edits), self.bounds(edits)) for edits in self.poisoned)

    @property
    def _good(self) -> float:
        """The mean of the score, or of its complement if less is better, at least."""
        return self.clean_bound if self.more_is_better else 1.0 - self.clean_bound

    def _certified(self, edits: int) -> Certified:
        found = best(self.spending, self._good, edits)
        bound = found.bound if edits > 0 else "-"
        return Certified(self._as_score(found.value), bound)

    def _as_score(self, good: float) -> float:
        return good if self.more_is_better else 1.0 - good

    def __str__(self) -> str:
        """The certificate in plain words, figures rounded to the safe side."""
        from privatree.robustness.certificates._certificate_text import full_text

        return full_text(self)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the guarantee against the number of poisoned records.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default on a new figure.
        """
        from privatree.robustness.certificates._certificate_plot import draw

        return draw(self, ax)

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionaries and lists, as in the JSON file."""
        from privatree.robustness.certificates._certificate_json import certificate_to_dict

        return certificate_to_dict(self)

    @classmethod
    def from_dict(cls, written: Any) -> Self:
        """Read what :meth:`to_dict` wrote; every mistake is a :class:`ModelFormatError`."""
        from privatree.robustness.certificates._certificate_json import certificate_from_dict

        return certificate_from_dict(cls, written)

    def to_json(self) -> str:
        """The text of the JSON file."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)

    def save(self, path: str | Path) -> None:
        """Write a JSON file; :meth:`load` reads it."""
        from privatree.robustness.certificates._certificate_json import write_json

        write_json(path, self.to_json())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what :meth:`save` wrote, and check it in full; every mistake names the file."""
        from privatree.robustness.certificates._certificate_json import read_json

        return read_json(path, cls.from_dict)


@dataclass(frozen=True)
class AccuracyCertificate(Certificate):
    """Expected accuracy after poisoning: at least this.

    Its parameters are those of :class:`Certificate`. Expected is over the noise of the learner,
    which an attacker does not know when choosing the records to add or remove.
    """

    kind: ClassVar[str] = "accuracy"
    score: ClassVar[str] = "accuracy"
    more_is_better: ClassVar[bool] = True

    @property
    def lower(self) -> float:
        """The expected accuracy without poisoning is at least this, with the confidence."""
        return self.clean_bound


@dataclass(frozen=True)
class AttackSuccessCertificate(Certificate):
    """Expected success rate of an attack with a fixed trigger: at most this.

    Its parameters are those of :class:`Certificate`.
    """

    kind: ClassVar[str] = "attack-success"
    score: ClassVar[str] = "attack success rate"
    more_is_better: ClassVar[bool] = False

    @property
    def upper(self) -> float:
        """The expected success rate without poisoning is at most this, with the confidence."""
        return self.clean_bound
