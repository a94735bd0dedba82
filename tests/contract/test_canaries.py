"""The search for canaries finds them in any form, and takes nothing else for one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

RECORDS = "number of records"


@pytest.mark.parametrize(
    "text", ["40023", "40,023 rows", "40_023", "4.0023e+04", "n=40023.0", "-40023", "x40023;"]
)
def test_a_number_is_found_in_any_notation(private_records: Any, text: str) -> None:
    assert private_records.secret.in_text(text) == {RECORDS}


@pytest.mark.parametrize("text", ["140023", "400230", "0.40023", "40023.5", "4,002,3", "40 02 3"])
def test_another_number_is_not(private_records: Any, text: str) -> None:
    assert private_records.secret.in_text(text) == set()


@pytest.mark.parametrize("kind", ["<i8", "<i4", "<f8", ">f8", "<f4"])
def test_a_number_is_found_in_bytes(private_records: Any, kind: str) -> None:
    data = b"abc" + np.array([7, 40023, 3], dtype=kind).tobytes() + b"\0"
    assert private_records.secret.in_bytes(data) == {RECORDS}
    assert private_records.secret.in_bytes(data[:5]) == set()


@pytest.mark.parametrize("kind", ["u2", "i4", "i8", "f4", "f8", "O", "U9", "S9"])
def test_a_number_is_found_in_arrays(private_records: Any, kind: str) -> None:
    array = np.array([[7, 40023, 3]]).astype(kind)
    assert private_records.secret.in_object({"deep": [(array[:, ::-1],)]}) == {RECORDS}
    assert private_records.secret.in_pickle(array) == {RECORDS}
    assert private_records.secret.in_object(np.array([[7, 40024, 3]]).astype(kind)) == set()
