"""Checks of the schema and of an interval, which come before any record is read."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any, NoReturn

from privatree._support.validation import is_number
from privatree.errors import ParameterError, PrivacyLeakWarning
from privatree.privacy import SCHEMA_LEAK, Leak
from privatree.schema import TARGET_CODES, Schema


def check_outcome(schema: Schema, by: str, *, is_number: bool) -> None:
    """Raise a ParameterError unless the schema declares what `by` predicts."""
    if is_number and schema.target is None:
        raise ParameterError(
            f"schema must have a target for {by}, which predicts a number, but has classes. Pass "
            "Schema(features, target=Target(low, high)), or use a classifier.",
            "schema",
        )
    if not is_number and schema.target is not None:
        raise ParameterError(
            f"schema must have classes for {by}, but has a target, which is a number. Use "
            "PrivaTreeRegressor or PrivaBoostRegressor, or declare the classes.",
            "schema",
        )


def refuse_weights(by: str, parameter: str) -> NoReturn:
    """Raise a ParameterError: `by` knows no weights, and no units of several records."""
    raise ParameterError(
        f"{parameter} must not give units or weights to {by}, which treats every record alike and "
        "on its own. Use PrivaTreeClassifier.",
        parameter,
    )


def refuse_separate_missing(schema: Schema, by: str) -> None:
    """Raise a ParameterError if missing values of a feature are separate, which `by` cannot do."""
    for name, feature in schema.features.items():
        if feature.separates_missing:
            raise ParameterError(
                f'schema must not have missing="separate" for {by}, got it for {name!r}. Name a '
                "value or a category that stands for a missing value.",
                "schema",
            )


def schema_leaks(schema: Schema) -> tuple[Leak, ...]:
    """Return what a model reveals through unconfirmed entries of the schema it was trained with."""
    if not schema.unconfirmed:
        return ()
    return (
        Leak(
            SCHEMA_LEAK,
            "these entries were taken from the records, and nobody has confirmed that they are "
            f"public: {schema.shown_unconfirmed()}. Check each against public knowledge, and pass "
            "a schema without marks.",
        ),
    )


def warn_if_unconfirmed(schema: Schema, stacklevel: int) -> None:
    if schema.unconfirmed:
        warnings.warn(
            "The schema has entries that were read from the records and that nobody has "
            f"confirmed: {schema.shown_unconfirmed()}. They are outside the privacy guarantee: no "
            "finite epsilon holds. Check each against public knowledge; then delete its mark in "
            "the schema's file, or pass schema.confirmed().",
            PrivacyLeakWarning,
            stacklevel=stacklevel,
        )


def check_interval(interval: Any, schema: Any) -> None:
    """Check a declared interval, and whether it fits the target if there is a schema with one."""
    if interval is None:
        return
    ends = list(interval) if isinstance(interval, tuple | list) else []
    if len(ends) != 2 or not all(map(is_number, ends)) or not ends[0] < ends[1]:
        raise ParameterError(
            f"interval must be two numbers, the smaller one first, got {interval!r}.",
            "interval",
        )
    if not isinstance(schema, Schema) or schema.target is None:
        return
    target = schema.target
    if not target.low <= interval[0] < interval[1] <= target.high:
        raise ParameterError(
            f"interval must lie in the range of the target, from {target.low} to {target.high}, "
            f"got {interval!r}.",
            "interval",
        )


def declared_interval(interval: Any, schema: Schema) -> tuple[Fraction, Fraction] | None:
    """Return a declared interval as shares of the coded range of the target."""
    if interval is None or schema.target is None:
        return None
    check_interval(interval, schema)
    first, last = schema.target.code_of(interval).tolist()
    return Fraction(first, TARGET_CODES), Fraction(last + 1, TARGET_CODES)
