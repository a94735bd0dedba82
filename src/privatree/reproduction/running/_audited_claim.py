"""The task behind the table of published methods: a small audit of a method's claim."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import ClassVar

from privatree.audit import audit, known_pairs
from privatree.baselines import methods
from privatree.baselines.methods import Training
from privatree.reproduction.running._task import Score
from privatree.reproduction.running._tasks import suppress_task_warnings, task_number

AUDITED_PAIRS = ("new-class", "new-category", "outlier", "three-records", "lead", "noisy-size")


@dataclass(frozen=True)
class AuditedClaim:
    """Lower bounds on the real epsilon of a method, one for each pair of tables.

    All bounds hold together with 99% confidence.
    """

    method: str
    epsilon: float
    runs: int

    fields: ClassVar[tuple[str, ...]] = ("method", "epsilon", "runs")
    measures: ClassVar[tuple[str, ...]] = AUDITED_PAIRS
    added_measures: ClassVar[tuple[str, ...]] = ()

    @property
    def key(self) -> tuple[str, ...]:
        """The values of ``fields`` as text."""
        return self.method, task_number(self.epsilon), str(self.runs)

    @property
    def weight(self) -> float:
        """Rough duration: that of many fits of a few records."""
        return self.runs / 50

    def prepare(self) -> None:
        """Do nothing: the tables are made by the audit."""

    def run(self) -> Score:
        """Train on both tables of each pair; return the bounds, NaN where a pair does not apply."""
        audited, known = methods.get(self.method), known_pairs(self.epsilon)
        pairs = [known[name] for name in AUDITED_PAIRS if audited.supports(known[name].schema)]
        start = time.perf_counter()
        with suppress_task_warnings():
            report = audit(
                lambda pair: audited.learner(
                    Training(pair.schema, self.epsilon, pair.max_depth or 4, 0)
                ),
                [pair.encoded(audited.encode) for pair in pairs],
                runs=self.runs,
                claimed=self.epsilon,
                delta=audited.delta,
                progress=False,
            )
        found = {finding.pair: finding.lower_bound for finding in report.findings}
        bounds = tuple(found.get(name, math.nan) for name in AUDITED_PAIRS)
        return Score(math.nan, time.perf_counter() - start, bounds)
