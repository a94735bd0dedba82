"""Equal rows are numbered 1, 2, 3 and so on, however they come."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privatree.counting.dealing import _copies
from privatree.counting.dealing._copies import CopyCounter
from privatree.errors import SourceError

ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=60)


def fingerprints_of(rows):
    return np.array(rows, dtype=np.uint64).reshape(-1, 2).T.copy()


@pytest.mark.slow
@given(ROWS, st.integers(1, 7))
def test_rows_are_numbered_among_their_equals(rows, size):
    counter, seen = CopyCounter(), Counter()
    for start in range(0, len(rows), size):
        part = rows[start : start + size]
        for row, number in zip(part, counter.number(fingerprints_of(part)).tolist(), strict=True):
            seen[row] += 1
            assert number == seen[row]
    found, counts = counter.exact_copies()
    assert dict(zip(map(tuple, found.T.tolist()), counts.tolist(), strict=True)) == seen


def test_numbers_go_on_after_those_of_another_place():
    first, second = CopyCounter(), CopyCounter()
    first.number(fingerprints_of([(1, 2), (1, 2), (3, 4)]))
    second.continue_after(*first.exact_copies())
    assert second.number(fingerprints_of([(1, 2), (3, 4), (5, 6)])).tolist() == [3, 2, 1]


@pytest.mark.parametrize("same_place", [True, False])
def test_many_rows_from_many_threads(same_place):
    """Rows that fall on one place of the table are told apart, and the table grows."""
    n, copies = 5000, 3
    first = np.arange(n, dtype=np.uint64) * np.uint64(2**32 if same_place else 1)
    rows = np.stack([first, np.arange(n, dtype=np.uint64)])
    counter = CopyCounter()
    parts = [rows[:, start : start + 500] for start in range(0, n, 500)] * copies
    with ThreadPoolExecutor(4) as pool:
        numbers = list(pool.map(counter.number, parts))
    assert Counter(np.concatenate(numbers).tolist()) == dict.fromkeys(range(1, copies + 1), n)
    assert len(counter.exact_copies()[1]) == n


def test_too_many_different_rows_are_refused(monkeypatch):
    monkeypatch.setattr(_copies, "MAX_DISTINCT", 3)
    counter = CopyCounter()
    counter.number(fingerprints_of([(1, 1), (2, 2), (3, 3), (3, 3)]))
    with pytest.raises(SourceError, match="Name a unit"):
        counter.number(fingerprints_of([(4, 4)]))
