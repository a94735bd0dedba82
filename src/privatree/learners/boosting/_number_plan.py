"""The plan of an ensemble for a numeric target: a few more draws, from public values alone."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from privatree.learners.boosting._plan import BoostPlan
from privatree.privacy import Stage

_INTERVAL_SHARE = Fraction(3, 100)
"""Share of the budget for the interval of the target."""
_START_SHARE = Fraction(3, 100)
"""Share of the budget for the prediction before the first round."""
_RESIDUAL_SHARE = Fraction(1, 100)
"""Share of the budget for each table of residuals."""
_N_RESIDUAL_TABLES = 4


@dataclass(frozen=True)
class NumberPlan(BoostPlan):
    """The parameters of the learner of ensembles for a numeric target that decide its draws."""

    draws_target_interval: bool = True
    """Whether an interval of the target is drawn. Otherwise it is declared."""

    @property
    def target_interval_epsilon(self) -> Fraction:
        """Budget of the interval of the target; 0 if it is declared."""
        return self.epsilon * _INTERVAL_SHARE if self.draws_target_interval else Fraction(0)

    @property
    def start_epsilon(self) -> Fraction:
        """Budget of the prediction before the first round."""
        return self.epsilon * _START_SHARE

    @property
    def residual_epsilon(self) -> Fraction:
        """Budget of each table of residuals."""
        return self.epsilon * _RESIDUAL_SHARE

    def residual_turns(self, n_rounds: int) -> frozenset[int]:
        """Return the rounds before which residuals are counted."""
        parts = range(_N_RESIDUAL_TABLES)
        return frozenset(n_rounds * part // _N_RESIDUAL_TABLES for part in parts)

    @property
    def first_stages(self) -> tuple[Stage, ...]:
        interval = self.target_interval_epsilon
        return (
            *super().first_stages,
            *([Stage("choice", interval)] if interval else []),
            Stage("count", self.start_epsilon),
            *[Stage("count", self.residual_epsilon)] * _N_RESIDUAL_TABLES,
        )
