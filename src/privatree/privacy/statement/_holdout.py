"""What a statement says of a held-out part: records that a model was tested on, and not trained on.

Each record is dealt to one of the two parts by itself, so what the model cost and what its scores
cost does not add up (``docs/proofs/holdout.md``).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privatree.errors import ModelFormatError, ParameterError
from privatree.privacy._spend import Spend
from privatree.privacy.statement._statement_json import (
    Keys,
    stated_epsilon,
    stated_epsilon_to_json,
    stated_number,
    stated_object,
    stated_spend_from_dict,
    stated_spend_to_dict,
)

_KEYS: Keys = {object: ("share", "model_epsilon", "score_epsilon"), list: ("spends",)}
_ROUNDING = Fraction(1, 10**9)


@dataclass(frozen=True)
class Holdout:
    """The held-out part of a training, and what was spent on it.

    Attributes
    ----------
    share : float
        Probability of each record, or unit, to be held out.
    model_epsilon : float
        Guarantee of the model alone, which was trained on the other records. Infinite if there are
        leaks.
    score_epsilon : float
        Guarantee of the scores alone, given the model.
    spends : tuple of Spend
        Every charge for the scores. They are for one record added or removed.

    Examples
    --------
    >>> Holdout(0.2, 1.0, 0.5).share
    0.2
    """

    share: float
    model_epsilon: float
    score_epsilon: float
    spends: tuple[Spend, ...] = ()

    def __post_init__(self) -> None:
        """Raise a ParameterError if the share is no probability of two parts."""
        if not 0 < self.share < 1:
            raise ParameterError(f"share must be between 0 and 1, got {self.share!r}.", "share")

    def check_covered(self, epsilon: float, factor: int) -> None:
        """Raise a ModelFormatError unless `epsilon`, the guarantee of all, covers both parts.

        `factor` is what the spends count under the neighbours of the guarantee.
        """
        spent = factor * sum((spend.times * spend.epsilon for spend in self.spends), Fraction(0))
        if any(spend.delta for spend in self.spends):
            raise ModelFormatError("privacy, the held-out part: scores must have no delta.")
        if spent > Fraction(self.score_epsilon) * (1 + _ROUNDING):
            raise ModelFormatError(
                "privacy, the held-out part: score_epsilon must be at least the sum of the "
                "epsilons spent."
            )
        if max(self.model_epsilon, self.score_epsilon) > epsilon:
            raise ModelFormatError(
                "privacy, the held-out part: model_epsilon and score_epsilon must be at most "
                "epsilon."
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the held-out part as in the JSON of a model."""
        return {
            "share": self.share,
            "model_epsilon": stated_epsilon_to_json(self.model_epsilon),
            "score_epsilon": self.score_epsilon,
            "spends": [stated_spend_to_dict(spend) for spend in self.spends],
        }

    @classmethod
    def from_dict(cls, written: Any) -> Holdout:
        """Read what :meth:`to_dict` returned; raise a ModelFormatError for mistakes."""
        fields = stated_object("the held-out part in privacy", written, _KEYS)
        spends = tuple(stated_spend_from_dict(entry) for entry in fields["spends"])
        if any(spend.node is not None or spend.is_range for spend in spends):
            raise ModelFormatError(
                "privacy, the held-out part: spends must be of no node, and no ranges."
            )
        try:
            return cls(
                stated_number("share", fields["share"]),
                stated_epsilon("model_epsilon", fields["model_epsilon"]),
                stated_number("score_epsilon", fields["score_epsilon"]),
                spends,
            )
        except ParameterError as error:
            raise ModelFormatError(f"privacy, the held-out part: {error}") from None

    @property
    def percent(self) -> str:
        """The share in percent, such as "20%"."""
        return f"{100 * self.share:.4g}%"
