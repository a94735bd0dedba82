"""Results of SQL expressions: labels as literals, and CASE."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from privatree.errors import ParameterError
from privatree.export.sql._conditions import BEYOND_64_BITS, unwritable_in_sql
from privatree.export.sql._dialects import Dialect
from privatree.schema import Label

_BEYOND_32_BITS = 2**31
"""The smallest positive integer that SQL Server does not read as an integer."""


def case_expression(cases: Iterable[tuple[tuple[str, ...], str]]) -> str:
    """Return a CASE of conditions and results. The last of the cases has no conditions."""
    lines = [
        "  WHEN "
        + "\n   AND ".join(conditions)
        + ("\n  THEN " if conditions[1:] else " THEN ")
        + result
        if conditions
        else f"  ELSE {result}"
        for conditions, result in cases
    ]
    if len(lines) == 1:
        return lines[0].removeprefix("  ELSE ")
    return "\n".join(["CASE", *lines, "END"])


def label_results(labels: Sequence[Label], dialect: Dialect) -> list[str]:
    """Return the literals of class labels, which can all be results of one CASE."""
    if isinstance(labels[0], str):
        return dialect.text_literals([str(label) for label in labels])
    if isinstance(labels[0], bool):
        return [dialect.boolean_results[bool(label)] for label in labels]
    if all(isinstance(label, int) for label in labels):
        return _integer_results([int(label) for label in labels], dialect)
    for label in labels:
        if isinstance(label, int) and (abs(label) > sys.float_info.max or float(label) != label):
            raise unwritable_in_sql(
                "integer labels that doubles can hold exactly, because other labels are fractions",
                label,
            )
        if not dialect.can_hold(float(label)):
            raise ParameterError(
                f"{dialect.title} needs labels that are 0 or at least {dialect.min_positive!r} in "
                f"size, got {label!r}. Use text instead."
            )
    return [dialect.double_result(float(label)) for label in labels]


def _integer_results(labels: Sequence[int], dialect: Dialect) -> list[str]:
    for label in labels:
        if abs(label) >= BEYOND_64_BITS:
            raise unwritable_in_sql("integer labels of at most 63 bits", label)
    if dialect.integer_type is not None and max(map(abs, labels)) >= _BEYOND_32_BITS:
        return [f"CAST({label} AS {dialect.integer_type})" for label in labels]
    return [str(label) for label in labels]
