"""The compiled hash is SipHash-2-4, by its published values and by a plain implementation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privatree.counting.dealing._kernels import (
    absorb_column,
    begin_rows,
    finish_rows,
    toss_coins,
)

WORDS = st.integers(0, 2**64 - 1)


@pytest.fixture(scope="module")
def siphash():
    """SipHash-2-4 of bytes, of 64 or 128 bits, written from its definition [AB12]."""

    def rotate(word, bits):
        return (word << bits | word >> (64 - bits)) % 2**64

    def mix(v):
        v[0] = (v[0] + v[1]) % 2**64
        v[2] = (v[2] + v[3]) % 2**64
        v[1] = rotate(v[1], 13) ^ v[0]
        v[3] = rotate(v[3], 16) ^ v[2]
        v[0] = rotate(v[0], 32)
        v[2] = (v[2] + v[1]) % 2**64
        v[0] = (v[0] + v[3]) % 2**64
        v[1] = rotate(v[1], 17) ^ v[2]
        v[3] = rotate(v[3], 21) ^ v[0]
        v[2] = rotate(v[2], 32)

    def hash_bytes(key, message, bits):
        halves = [int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")]
        v = [
            int.from_bytes(text, "big") ^ half
            for text, half in zip(
                (b"somepseu", b"dorandom", b"lygenera", b"tedbytes"), halves * 2, strict=True
            )
        ]
        v[1] ^= 0xEE * (bits == 128)
        last = message[len(message) // 8 * 8 :]
        padded = message[: len(message) - len(last)] + last.ljust(7, b"\0")
        padded += bytes([len(message) % 256])
        for start in range(0, len(padded), 8):
            word = int.from_bytes(padded[start : start + 8], "little")
            v[3] ^= word
            mix(v)
            mix(v)
            v[0] ^= word
        v[2] ^= 0xEE if bits == 128 else 0xFF
        parts = []
        for step in range(bits // 64):
            v[1] ^= 0xDD * step
            for _ in range(4):
                mix(v)
            parts.append(v[0] ^ v[1] ^ v[2] ^ v[3])
        return b"".join(part.to_bytes(8, "little") for part in parts)

    return hash_bytes


def test_the_oracle_knows_the_published_values(siphash):
    key = bytes(range(16))
    assert siphash(key, b"", 64).hex() == "310e0edd47db6f72"
    assert siphash(key, bytes(range(15)), 64).hex() == "e545be4961ca29a1"
    assert siphash(key, b"", 128).hex() == "a3817f04ba25a8e66df67214c7550293"


@given(WORDS, WORDS, st.lists(st.lists(WORDS, min_size=3, max_size=3), max_size=40))
def test_rows_have_the_hash_of_their_words(siphash, first, second, columns):
    state, found = np.empty((4, 3), np.uint64), np.empty((2, 3), np.uint64)
    begin_rows(np.uint64(first), np.uint64(second), state)
    for words in columns:
        absorb_column(np.array(words, np.uint64), state)
    finish_rows(len(columns), state, found)
    key = np.array([first, second], "<u8").tobytes()
    for row in range(3):
        message = np.array([words[row] for words in columns], "<u8").tobytes()
        assert found[:, row].astype("<u8").tobytes() == siphash(key, message, 128)


@given(WORDS, WORDS, WORDS, WORDS, st.integers(0, 2**62))
def test_a_coin_is_the_hash_of_the_fingerprint_and_the_number(siphash, first, second, a, b, number):
    coins = np.empty(1, np.uint64)
    fingerprint = np.array([[a], [b]], np.uint64)
    toss_coins(np.uint64(first), np.uint64(second), fingerprint, np.array([number]), coins)
    key = np.array([first, second], "<u8").tobytes()
    message = np.array([a, b, number], "<u8").tobytes()
    assert coins.astype("<u8").tobytes() == siphash(key, message, 64)
