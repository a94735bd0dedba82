"""An ensemble as SQL: sums of CASE expressions in whole numbers.

The *lead* of a class over another is half the difference of their margins: the sum of h times the
sign of the class, over the rounds in which the two classes have different signs. It is exact. The
predicted class is the first that no later class leads. The probability of a class is 1 divided by
the sum over all classes of e to the power of `step` times their lead over it. A predicted number
follows from one sum: of h times the amount of its round.

A database limits how deep expressions are nested: SQLite to 1000, and a long sum is as deep as it
has terms. So a sum is written as a sum of sums in parentheses, of at most 32 terms each.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence

import numpy as np

from privatree.errors import ParameterError
from privatree.export.sql._conditions import (
    category_condition,
    check_sql_text_categories,
    is_number_condition,
    threshold_condition,
)
from privatree.export.sql._dialects import Dialect
from privatree.export.sql._function_sums import BranchSum, FunctionSum, StepSum, add_functions
from privatree.export.sql._results import case_expression, label_results
from privatree.model.ensemble import Ensemble, Step, nodes_of
from privatree.schema import Categorical, Label, Numeric, Target

_MAX_TERMS_IN_A_ROW = 32
_MAX_EXPONENT = 690.0
"""A larger power of e, or a sum of such powers, could be too large for a double."""
_MAX_CASES = 2_000_000


class EnsembleExpression:
    """The expressions of an ensemble. `source` is the quoted table of the columns, if any."""

    def __init__(
        self, ensemble: Ensemble, source: str | None, dialect: Dialect, *, proba: bool
    ) -> None:
        _check_number_of_cases(ensemble, proba)
        self._ensemble, self._dialect = ensemble, dialect
        self._features = list(ensemble.schema.features.values())
        prefix = "" if source is None else f"{source}."
        names = ensemble.schema.names
        self._columns = {
            position: f"{prefix}{dialect.quote_name(names[position])}"
            for position in ensemble.used_features
        }
        for position in ensemble.used_features:
            if isinstance(feature := self._features[position], Categorical):
                check_sql_text_categories(feature, dialect)

    def prediction(self) -> str:
        """Return the expression of the predicted label or number."""
        if self._ensemble.schema.target is not None:
            return self._number(self._ensemble.schema.target)
        classes = self._ensemble.schema.classes
        cases = []
        for code, label in enumerate(label_results(classes, self._dialect)):
            others = [c for c in range(code + 1, len(classes)) if self._n_different(c, code)]
            cases.append((tuple(f"{self._lead(c, code)} <= 0" for c in others), label))
            if not others:  # no later class can lead
                break
        return case_expression(cases)

    def _number(self, target: Target) -> str:
        """Return the expression of the predicted number.

        Margins beyond which predictions are an end of the range are found here, so that the
        database need not compare numbers that it has rounded.
        """
        ensemble, double = self._ensemble, self._dialect.double_result
        if target.log and not self._dialect.has_exp:
            raise ParameterError(
                f"dialect must be a database with EXP for a target with log=True, and "
                f"{self._dialect.title} has none.",
                "dialect",
            )
        terms = [(one.amounts[0], one.function) for one in ensemble.rounds]
        margin = self._function_sum(add_functions(terms, ensemble.schema))
        score = f"{double(ensemble.start)} + {double(ensemble.step)} * ({margin})"
        number = f"EXP({score}) - {double(1.0)}" if target.log else score
        most = sum(amounts for amounts, _ in terms)
        n_low = bisect_left(
            range(-most, most + 1), True, key=lambda k: _predicted(ensemble, k) > target.low
        )
        n_inside = bisect_left(
            range(-most, most + 1), True, key=lambda k: _predicted(ensemble, k) >= target.high
        )
        cases = []
        if n_low:
            cases.append((f"{margin} <= {n_low - 1 - most}", double(float(target.low))))
        if n_inside <= 2 * most:
            cases.append((f"{margin} >= {n_inside - most}", double(float(target.high))))
        return case_expression([*(((where,), then) for where, then in cases), ((), number)])

    def probabilities(self) -> Iterator[str]:
        """Yield the expression of the probability of each class."""
        n_classes = len(self._ensemble.schema.classes)
        for code in range(n_classes):
            powers = [self._power(other, code) for other in range(n_classes) if other != code]
            yield f"1 / ({_sum([self._dialect.double_result(1.0), *powers])})"

    def _power(self, one: int, other: int) -> str:
        """Return the expression of e to the power of the step times the lead of a class."""
        n_different = self._n_different(one, other)
        if not n_different:
            return self._dialect.double_result(1.0)
        # A lead is written in one way only, so that a database can see that it is the same.
        later, earlier = max(one, other), min(one, other)
        lead, step = self._lead(later, earlier), self._ensemble.step * (1 if one == later else -1)
        if self._dialect.has_exp and abs(step) * n_different <= _MAX_EXPONENT:
            return f"EXP({self._dialect.double_result(step)} * ({lead}))"
        cases = [f"CASE {lead}"]
        for number in range(-n_different, n_different + 1, 2):
            power = math.exp(max(-_MAX_EXPONENT, min(step * number, _MAX_EXPONENT)))
            cases.append(f"WHEN {number} THEN {self._dialect.double_result(power)}")
        return "\n  ".join([*cases, "END"])

    def _n_different(self, one: int, other: int) -> int:
        """Return the number of rounds in which two classes have different signs."""
        rounds = self._ensemble.rounds
        return sum(r.amounts[one] != r.amounts[other] for r in rounds)

    def _lead(self, one: int, other: int) -> str:
        """Return the expression of the lead of class `one` over class `other`."""
        terms = [
            (r.amounts[one], r.function)
            for r in self._ensemble.rounds
            if r.amounts[one] != r.amounts[other]
        ]
        return self._function_sum(add_functions(terms, self._ensemble.schema))

    def _function_sum(self, added: FunctionSum) -> str:
        terms = [self._step(step) for step in added.steps]
        terms += [self._branch(branch) for branch in added.branches]
        if added.constant or not terms:
            terms.append(str(added.constant))
        return _sum(terms)

    def _branch(self, added: BranchSum) -> str:
        """Return a CASE whose condition is never TRUE for missing values."""
        feature = self._features[added.branch.feature]
        column = self._columns[added.branch.feature]
        left, right = self._function_sum(added.left), self._function_sum(added.right)
        if isinstance(feature, Categorical):
            mask = np.frombuffer(added.branch.goes_left or b"", dtype=np.uint8) > 0
            to_left = not mask[feature.missing_place]
            labels = _labels(feature, np.flatnonzero(mask == to_left).tolist())
            condition = category_condition(column, labels, self._dialect)
        else:
            threshold = -math.inf if added.branch.threshold is None else added.branch.threshold
            to_left = feature.missing_place > threshold
            if threshold == -math.inf:
                condition = is_number_condition(column, self._dialect)
            else:
                condition = threshold_condition(column, threshold, to_left, self._dialect)
        there, elsewhere = (left, right) if to_left else (right, left)
        if not condition:  # no value can take this side
            return f"({elsewhere})"
        return f"CASE WHEN {condition} THEN {there} ELSE {elsewhere} END"

    def _step(self, step: StepSum) -> str:
        """Return a CASE with the value of missing values at its end."""
        feature, column = self._features[step.feature], self._columns[step.feature]
        if isinstance(feature, Categorical):
            cases, missing = self._category_cases(column, feature, step.values.tolist())
        else:
            cuts = [] if step.cuts is None else step.cuts.tolist()
            cases, missing = self._number_cases(column, feature, step.values.tolist(), cuts)
        if not cases:
            return str(missing)
        return f"CASE {' '.join(cases)} ELSE {missing} END"

    def _category_cases(
        self, column: str, feature: Categorical, values: list[int]
    ) -> tuple[list[str], int]:
        missing = values[feature.missing_place]
        codes: dict[int, list[int]] = {}
        for code, value in enumerate(values):
            if value != missing:
                codes.setdefault(value, []).append(code)
        cases = []
        for value, same in codes.items():
            condition = category_condition(column, _labels(feature, same), self._dialect)
            if condition:  # otherwise the database cannot hold these categories
                cases.append(f"WHEN {condition} THEN {value}")
        return cases, missing

    def _number_cases(
        self, column: str, feature: Numeric, values: list[int], cuts: list[float]
    ) -> tuple[list[str], int]:
        missing = values[bisect_left(cuts, float(feature.missing_place))]
        if cuts[0] == -math.inf:  # only missing values are below it
            cuts, values = cuts[1:], values[1:]
            if not cuts:
                condition = is_number_condition(column, self._dialect)
                return [f"WHEN {condition} THEN {values[0]}"], missing
        at_most = [threshold_condition(column, cut, True, self._dialect) for cut in cuts]
        above = [threshold_condition(column, cut, False, self._dialect) for cut in cuts]
        upwards = list(zip(at_most, values, strict=False))
        if values[-1] == missing:
            chosen = upwards
        elif values[0] == missing:
            chosen = list(zip(above, values[1:], strict=True))[::-1]
        else:
            chosen = [*upwards, (above[-1], values[-1])]
        return [f"WHEN {condition} THEN {value}" for condition, value in chosen], missing


def _predicted(ensemble: Ensemble, margin: int) -> float:
    """Return the predicted number of a margin."""
    target = ensemble.schema.target
    score = ensemble.start + ensemble.step * margin
    return score if target is None else float(target.of_score(score))


def _labels(feature: Categorical, codes: Sequence[int]) -> list[Label]:
    """Return the categories of codes. The code of separate missing values has none."""
    return [feature.categories[code] for code in codes if code < len(feature.categories)]


def _sum(terms: Sequence[str]) -> str:
    """Return a sum. A sum of many terms becomes a sum of sums."""
    parts = list(terms)
    while len(parts) > _MAX_TERMS_IN_A_ROW:
        rows = range(0, len(parts), _MAX_TERMS_IN_A_ROW)
        parts = [f"({_row(parts[start : start + _MAX_TERMS_IN_A_ROW])})" for start in rows]
    return _row(parts)


def _row(terms: Sequence[str]) -> str:
    return "\n  + ".join(terms)


def _check_number_of_cases(ensemble: Ensemble, proba: bool) -> None:
    """Raise ParameterError if the SQL would be very long, which needs very many classes."""
    n_classes = len(ensemble.schema.classes)
    n_pairs = n_classes * (n_classes - 1) // 2 * (3 if proba else 1)
    n_pairs = n_pairs or 3  # a margin stands up to three times in the expression of a number
    n_cases = 0
    for one in ensemble.rounds:
        for node in nodes_of(one.function):
            n_cases += 1
            if isinstance(node, Step):
                n_cases += len(node.switches) + len(node.positive or b"")
            else:
                n_cases += len(node.goes_left or b"")
    if n_cases * n_pairs > _MAX_CASES:
        raise ParameterError(
            f"SQL must have at most {_MAX_CASES:,} cases, got {n_cases * n_pairs:,}: one for each "
            "switch or category of the ensemble and each pair of classes. Export to ONNX instead."
        )
