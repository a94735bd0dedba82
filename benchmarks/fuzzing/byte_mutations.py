"""Changes of a file that know nothing of its format."""

from __future__ import annotations

import random
from collections.abc import Callable

Mutation = Callable[[bytes, bytes, random.Random], bytes]
"""From a file, another one of its kind and chance to a changed file."""

ODD_PIECES = (
    b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\xed\xa0\x80", b"\xc0\xaf",
    b"\xf4\x90\x80\x80",
    b"\\ud800", b"\\u0000", b"\\", b'"', b"'", b'"""', b"\n", b"\r", b"\r\n", b"\t", b"\x1b[31m",
    b"{", b"}", b"[", b"]", b",", b":", b"=", b"#", b".", b"-", b"e999", b"NaN", b"-Infinity",
    "\u2028".encode(), "\U0001f600".encode(), "é".encode("latin-1"),
)  # fmt: skip
ENCODINGS = ("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "latin-1", "utf-7")


def _place(contents: bytes, rng: random.Random) -> int:
    return rng.randrange(len(contents) + 1)


def _span(contents: bytes, rng: random.Random) -> tuple[int, int]:
    start = _place(contents, rng)
    return start, min(len(contents), start + int(2 ** rng.uniform(0, 12)))


def flip_bits(contents: bytes, _: bytes, rng: random.Random) -> bytes:
    changed = bytearray(contents)
    for _ in range(rng.choice((1, 1, 1, 2, 5, 50))):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def delete_span(contents: bytes, _: bytes, rng: random.Random) -> bytes:
    start, end = _span(contents, rng)
    return contents[:start] + contents[end:]


def duplicate_span(contents: bytes, _: bytes, rng: random.Random) -> bytes:
    start, end = _span(contents, rng)
    return contents[:end] + contents[start:end] * rng.choice((1, 1, 2, 100)) + contents[end:]


def move_span(contents: bytes, _: bytes, rng: random.Random) -> bytes:
    start, end = _span(contents, rng)
    rest, place = contents[:start] + contents[end:], rng.random()
    cut = int(place * (len(rest) + 1))
    return rest[:cut] + contents[start:end] + rest[cut:]


def truncate(contents: bytes, _: bytes, rng: random.Random) -> bytes:
    return contents[: _place(contents, rng)]


def insert_piece(contents: bytes, _: bytes, rng: random.Random) -> bytes:
    place = _place(contents, rng)
    return contents[:place] + rng.choice(ODD_PIECES) * rng.choice((1, 1, 3)) + contents[place:]


def insert_noise(contents: bytes, _: bytes, rng: random.Random) -> bytes:
    place = _place(contents, rng)
    return contents[:place] + rng.randbytes(rng.choice((1, 2, 16, 1000))) + contents[place:]


def change_digit(contents: bytes, _: bytes, rng: random.Random) -> bytes:
    """Change a digit; the result is most often still a number."""
    places = [place for place, byte in enumerate(contents[:100_000]) if 48 <= byte <= 57]
    if not places:
        return contents
    place = rng.choice(places)
    digits = rng.choice((b"", b"0", b"9", b"1e", b"-", b"12345", b"9" * 400, b"0.", b"e5", b"_"))
    return contents[:place] + digits + contents[place + rng.randrange(2) :]


def splice(contents: bytes, other: bytes, rng: random.Random) -> bytes:
    return contents[: _place(contents, rng)] + other[_place(other, rng) :]


def append_other(contents: bytes, other: bytes, _: random.Random) -> bytes:
    return contents + other


def other_encoding(contents: bytes, _: bytes, rng: random.Random) -> bytes:
    return contents.decode("utf-8", "replace").encode(rng.choice(ENCODINGS), "replace")


def pad(contents: bytes, _: bytes, rng: random.Random) -> bytes:
    piece = rng.choice((b" ", b"\n", b"[", b"{", b'"', b"a.", b"#", b"\x00", b'{"a":', b"[[a]]\n"))
    return rng.choice((b"", contents)) + piece * rng.choice((10, 1000, 100_000))


MUTATIONS: tuple[Mutation, ...] = (
    flip_bits, delete_span, duplicate_span, move_span, truncate, insert_piece, insert_noise,
    change_digit, change_digit, splice, append_other, other_encoding, pad,
)  # fmt: skip


def mutated(contents: bytes, other: bytes, rng: random.Random) -> bytes:
    """Return the bytes of the file after one to four changes."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        contents = rng.choice(MUTATIONS)(contents, other, rng)
    return contents
