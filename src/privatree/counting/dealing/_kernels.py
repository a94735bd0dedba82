"""Compiled loops that hash rows with SipHash-2-4 [AB12], and number rows that are equal.

A row is a sequence of 64-bit words. The state of SipHash has four words for each row, so that a
table can be hashed column by column.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from privatree._support.kernels.compiling import compiled, compiled_inline

_START = tuple(
    np.uint64(word)
    for word in (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
)
_LONG, _LAST, _SECOND = np.uint64(0xEE), np.uint64(0xFF), np.uint64(0xDD)
_13, _16, _17, _21, _32 = (np.uint64(bits) for bits in (13, 16, 17, 21, 32))
_56, _64 = np.uint64(56), np.uint64(64)


@compiled_inline
def _rotate(word: Any, bits: Any) -> Any:
    return (word << bits) | (word >> (_64 - bits))


@compiled_inline
def _mix(a: Any, b: Any, c: Any, d: Any) -> Any:
    """Return the state after one round."""
    a += b
    b = _rotate(b, _13) ^ a
    a = _rotate(a, _32)
    c += d
    d = _rotate(d, _16) ^ c
    a += d
    d = _rotate(d, _21) ^ a
    c += b
    b = _rotate(b, _17) ^ c
    c = _rotate(c, _32)
    return a, b, c, d


@compiled_inline
def _absorb(a: Any, b: Any, c: Any, d: Any, word: Any) -> Any:
    d ^= word
    a, b, c, d = _mix(a, b, c, d)
    a, b, c, d = _mix(a, b, c, d)
    return a ^ word, b, c, d


@compiled
def begin_rows(first: Any, second: Any, state: Any) -> None:
    """Write the state of empty rows, for a hash of 128 bits, to an array (4, row)."""
    state[0, :] = _START[0] ^ first
    state[1, :] = _START[1] ^ second ^ _LONG
    state[2, :] = _START[2] ^ first
    state[3, :] = _START[3] ^ second


@compiled
def absorb_column(words: Any, state: Any) -> None:
    """Add one word to each row."""
    for row in range(words.size):
        a, b, c, d = _absorb(state[0, row], state[1, row], state[2, row], state[3, row], words[row])
        state[0, row], state[1, row], state[2, row], state[3, row] = a, b, c, d


@compiled
def finish_rows(n_words: Any, state: Any, fingerprints: Any) -> None:
    """Write the hash of 128 bits of each row to an array (2, row)."""
    length = np.uint64((8 * n_words) % 256) << _56
    for row in range(fingerprints.shape[1]):
        a, b, c, d = _absorb(state[0, row], state[1, row], state[2, row], state[3, row], length)
        c ^= _LONG
        for _ in range(4):
            a, b, c, d = _mix(a, b, c, d)
        fingerprints[0, row] = a ^ b ^ c ^ d
        b ^= _SECOND
        for _ in range(4):
            a, b, c, d = _mix(a, b, c, d)
        fingerprints[1, row] = a ^ b ^ c ^ d


@compiled
def toss_coins(first: Any, second: Any, fingerprints: Any, numbers: Any, coins: Any) -> None:
    """Write the hash of 64 bits of each fingerprint with its number."""
    length = np.uint64(24) << _56
    for row in range(coins.size):
        a, b = _START[0] ^ first, _START[1] ^ second
        c, d = _START[2] ^ first, _START[3] ^ second
        a, b, c, d = _absorb(a, b, c, d, fingerprints[0, row])
        a, b, c, d = _absorb(a, b, c, d, fingerprints[1, row])
        a, b, c, d = _absorb(a, b, c, d, np.uint64(numbers[row]))
        a, b, c, d = _absorb(a, b, c, d, length)
        c ^= _LAST
        for _ in range(4):
            a, b, c, d = _mix(a, b, c, d)
        coins[row] = a ^ b ^ c ^ d


@compiled
def number_copies(fingerprints: Any, keys: Any, counts: Any, numbers: Any) -> Any:
    """Number the rows of each fingerprint from 1 on; return how many fingerprints are new.

    `keys`, an array (2, place), and `counts` are a hash table with open addressing. Its length is a
    power of two, and it must have a free place for each row. A count of 0 is a free place.
    """
    mask = np.uint64(counts.size - 1)
    n_new = 0
    for row in range(numbers.size):
        first, second = fingerprints[0, row], fingerprints[1, row]
        place = first & mask
        while counts[place] and (keys[0, place] != first or keys[1, place] != second):
            place = (place + np.uint64(1)) & mask
        if counts[place] == 0:
            keys[0, place], keys[1, place] = first, second
            n_new += 1
        counts[place] += 1
        numbers[row] = counts[place]
    return n_new


@compiled
def move_copies(old_keys: Any, old_counts: Any, keys: Any, counts: Any) -> None:
    """Move the counts of a hash table to a larger, empty one."""
    mask = np.uint64(counts.size - 1)
    for old in range(old_counts.size):
        if old_counts[old]:
            place = old_keys[0, old] & mask
            while counts[place]:
                place = (place + np.uint64(1)) & mask
            keys[0, place], keys[1, place] = old_keys[0, old], old_keys[1, old]
            counts[place] = old_counts[old]
