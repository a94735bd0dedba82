"""The partition of a record is a fixed function of its values."""

import struct
from hashlib import blake2b
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from privatree.robustness.dpa._record_hash import partition_numbers, rows_to_hash

ROWS = np.array([[0.0, 0.0], [1.0, -2.5], [np.nan, np.inf], [1e300, 5e-324], [39.0, 13.0]])


def numbers(rows: Any, n_partitions: int = 2**62) -> list[int]:
    return partition_numbers(rows_to_hash(np.asarray(rows)), n_partitions).tolist()


def test_these_numbers_never_change() -> None:
    """Everybody's certificates rest on them: on any machine, in any version."""
    assert numbers(ROWS, 1000) == [510, 430, 920, 702, 276]
    assert numbers(ROWS[:, :1], 7) == [2, 6, 1, 3, 2]


def test_they_are_computed_as_documented() -> None:
    for row, found in zip(ROWS.tolist(), numbers(ROWS), strict=True):
        record = struct.pack(">q", len(row)) + b"".join(struct.pack(">d", v) for v in row)
        digest = blake2b(record, digest_size=8, person=b"privatree-dpa").digest()
        assert found == int.from_bytes(digest, "big") % 2**62


def test_zeros_are_one_and_nans_are_one() -> None:
    (strange,) = struct.unpack(">d", bytes.fromhex("fff8000000000001"))
    assert np.isnan(strange)
    assert numbers([[0.0, np.nan]]) == numbers([[-0.0, strange]]) == numbers([[0.0, -np.nan]])
    written = rows_to_hash(np.array([[-0.0, strange]]))
    assert written.tobytes() == np.array([[0.0, np.nan]]).tobytes()


def test_what_is_given_stays_as_it_is() -> None:
    rows = np.array([[-0.0]])
    rows_to_hash(rows)
    assert np.signbit(rows[0, 0])


@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.int64, np.float16, np.float32, bool])
def test_the_type_of_the_column_does_not_matter(kind: Any) -> None:
    rows = np.array([[0, 1], [1, 1], [1, 0]])
    assert numbers(rows.astype(kind)) == numbers(rows.astype(np.float64))


def test_the_layout_does_not_matter_but_the_columns_do() -> None:
    rows = np.arange(12.0).reshape(4, 3)
    assert numbers(np.asfortranarray(rows)) == numbers(rows)
    assert numbers(rows.astype(">f8")) == numbers(rows)
    assert numbers(rows[:, ::-1]) != numbers(rows)
    assert len({*numbers([[0.0]]), *numbers([[0.0, 0.0]]), *numbers([[0.0, 0.0, 0.0]])}) == 3


@given(arrays(np.float64, array_shapes(min_dims=2, max_dims=2)), st.integers(1, 50), st.data())
def test_a_row_s_number_is_its_own(rows: Any, n_partitions: int, data: Any) -> None:
    order = data.draw(st.permutations(range(len(rows))))
    found = np.array(numbers(rows, n_partitions))
    assert numbers(rows[order], n_partitions) == found[order].tolist()
    assert all(0 <= number < n_partitions for number in found)


def test_records_spread_evenly() -> None:
    counts = np.bincount(numbers(np.arange(20_000.0).reshape(-1, 1), 20), minlength=20)
    assert np.abs(counts - 1000).max() < 200  # six standard deviations, and fixed anyway
