from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from privatree._support.validation import (
    check_integer,
    check_number,
    check_one_of,
    check_same_length,
    is_integer,
    is_number,
    list_some_names,
)
from privatree.errors import ParameterError

NUMBERS = [0, -3, 1.5, math.nan, np.int64(2), np.float32(0.5)]
OTHERS = [True, False, np.True_, "1", None, [1], 1j]


def test_true_and_false_are_no_numbers() -> None:
    assert all(map(is_number, NUMBERS))
    assert not any(map(is_number, OTHERS))
    assert [value for value in NUMBERS if is_integer(value)] == [0, -3, 2]
    assert not any(map(is_integer, OTHERS))


@pytest.mark.parametrize(
    ("check", "message", "parameter"),
    [
        (
            lambda: check_number("share", math.nan, lambda s: 0 < s < 1, "be between 0 and 1"),
            "share must be between 0 and 1, got nan.",
            "share",
        ),
        (
            lambda: check_number("share", "1", lambda s: True, "be a number"),
            "share must be a number, got '1'.",
            "share",
        ),
        (
            lambda: check_integer("runs", 5, 1, 4),
            "runs must be an integer from 1 to 4, got 5.",
            "runs",
        ),
        (
            lambda: check_integer("max_depth", 0, 1, 16, unless="None"),
            "max_depth (if not None) must be an integer from 1 to 16, got 0.",
            "max_depth",
        ),
        (
            lambda: check_one_of("schedule", ["robust"], ("accuracy", "robust")),
            'schedule must be "accuracy" or "robust", got [\'robust\'].',
            "schedule",
        ),
        (
            lambda: check_same_length(3, 4),
            "X and y must have the same number of rows.",
            "y",
        ),
    ],
)
def test_what_is_refused_names_the_parameter(
    check: Callable[[], None], message: str, parameter: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        check()
    assert str(caught.value) == message
    assert caught.value.parameter == parameter


def test_what_is_allowed() -> None:
    check_number("share", np.float64(0.5), lambda s: 0 < s < 1, "be between 0 and 1")
    check_integer("runs", np.int32(4), 1, 4)
    check_integer("runs", 1, 1, 4)
    check_one_of("schedule", "robust", ("accuracy", "robust"))
    check_same_length(3, 3)


def test_an_error_keeps_its_parameter_from_one_process_to_another() -> None:
    error: Any = pickle.loads(pickle.dumps(ParameterError("runs must be larger.", "runs")))
    assert (str(error), error.parameter) == ("runs must be larger.", "runs")
    assert ParameterError("a mistake.").parameter is None


def test_of_many_names_the_first_are_listed() -> None:
    assert list_some_names(["a", "b"]) == "'a', 'b'"
    assert list_some_names([1, True, "c"], 2, "more columns") == "1, True and 1 more columns"
    assert list_some_names([]) == ""
