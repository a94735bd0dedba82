"""The rule that deals each record to the training part or to the held-out part.

The part of a record is a coin, which a keyed hash tosses for the record alone: for the id of its
unit or, without units, for all that is read of it. A record that is added or removed changes the
part of no other record (``docs/proofs/holdout.md``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from privatree.counting.dealing._copies import CopyCounter
from privatree.counting.dealing._kernels import (
    absorb_column,
    begin_rows,
    finish_rows,
    toss_coins,
)
from privatree.privacy import Randomness
from privatree.schema import Categorical, Schema
from privatree.tables import (
    Batch,
    UnitIds,
    category_code_dtype,
    column_to_codes,
    column_to_numbers,
    label_codes,
    read_unit_ids,
)

_COINS = 2**64


@dataclass(frozen=True)
class Dealing:
    """Rule that deals records to two parts. It can be pickled.

    Parameters
    ----------
    schema : Schema
        Columns that are read of a record, and its classes or target.
    key : tuple of four int
        Secret key, of 64-bit words. It is used in one training and then thrown away.
    share : Fraction
        Probability of the held-out part, between 0 and 1.
    """

    schema: Schema
    key: tuple[int, int, int, int] = field(repr=False)
    share: Fraction

    @classmethod
    def draw(cls, schema: Schema, share: Fraction, randomness: Randomness) -> Dealing:
        """Return a rule with a fresh random key."""
        first, second, third, fourth = randomness.words(4).tolist()
        return cls(schema, (first, second, third, fourth), share)

    @property
    def training(self) -> Part:
        """The part that a model is trained on."""
        return Part(self, is_held_out=False)

    @property
    def held_out(self) -> Part:
        """The part that the model is tested on."""
        return Part(self, is_held_out=True)

    def fingerprint_rows(self, batch: Batch) -> NDArray[np.uint64]:
        """Return a keyed hash of 128 bits of each row, an array (2, row).

        It is the hash of the numbers, the codes of categories, the label and the weight of the row,
        so rows that are equal to the learner and to its test have the same hash.
        """
        state = np.empty((4, batch.n_rows), dtype=np.uint64)
        begin_rows(np.uint64(self.key[0]), np.uint64(self.key[1]), state)
        n_words = 0
        for words in _row_words(batch, self.schema):
            absorb_column(words, state)
            n_words += 1
        fingerprints = np.empty((2, batch.n_rows), dtype=np.uint64)
        finish_rows(n_words, state, fingerprints)
        return fingerprints

    def fingerprint_units(self, found: UnitIds) -> NDArray[np.uint64]:
        """Return a keyed hash of 128 bits of each distinct id, an array (2, id)."""
        key = np.array(self.key[:2], dtype="<u8").tobytes()
        hashes = [blake2b(one.encode(), key=key, digest_size=16).digest() for one in found.ids]
        words = np.frombuffer(b"".join(hashes), dtype="<u8").reshape(-1, 2)
        return np.ascontiguousarray(words.T, dtype=np.uint64)

    def are_held_out(
        self, fingerprints: NDArray[np.uint64], numbers: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Return the coin of each fingerprint with its number: True for the held-out part."""
        coins = np.empty(len(numbers), dtype=np.uint64)
        toss_coins(np.uint64(self.key[2]), np.uint64(self.key[3]), fingerprints, numbers, coins)
        return coins < np.uint64(int(self.share * _COINS))

    def unit_parts(self, found: UnitIds) -> NDArray[np.bool_]:
        """Return whether each distinct id belongs to the held-out part."""
        return self.are_held_out(self.fingerprint_units(found), np.zeros(len(found.ids), np.int64))


@dataclass(frozen=True)
class Part:
    """One of the two parts of a dealing."""

    dealing: Dealing
    is_held_out: bool

    def select(self, batch: Batch, are_held_out: NDArray[np.bool_]) -> Batch:
        """Return a batch in which only rows of this part count."""
        return replace(batch, in_part=are_held_out == self.is_held_out)

    def begin_pass(self) -> Callable[[Batch], Batch]:
        """Return a function that selects the rows of this part from each batch of a pass."""
        dealt = PassDealing(self.dealing)
        return lambda batch: self.select(batch, dealt.are_held_out(batch))


class PassDealing:
    """A dealing in one pass over all records. Several threads can use it.

    `copies` numbers equal rows, if a part of the rows was numbered elsewhere.
    """

    def __init__(self, dealing: Dealing, copies: CopyCounter | None = None) -> None:
        self._dealing = dealing
        self._copies = copies or CopyCounter()

    def are_held_out(self, batch: Batch) -> NDArray[np.bool_]:
        """Return whether each row belongs to the held-out part. Each row must come once."""
        dealing = self._dealing
        if batch.unit is not None:
            found = read_unit_ids(batch.unit.read())
            # A row without an id finds the last. It counts in no part.
            of_row: NDArray[np.bool_] = np.append(dealing.unit_parts(found), False)[found.places]
            return of_row
        fingerprints = dealing.fingerprint_rows(batch)
        return dealing.are_held_out(fingerprints, self._copies.number(fingerprints))


def _row_words(batch: Batch, schema: Schema) -> Iterator[NDArray[np.uint64]]:
    """Yield what is read of the rows, as columns of 64-bit words."""
    for column, feature in zip(batch.features, schema.features.values(), strict=True):
        if isinstance(feature, Categorical):
            place, dtype = feature.missing_place, category_code_dtype(feature)
            codes = column_to_codes(column.read(), feature.categories, place, dtype)
            yield codes.astype(np.uint64)
        else:
            yield _number_words(column_to_numbers(column.read()))
    labels = batch.labels.read()
    if schema.target is not None:
        yield _number_words(column_to_numbers(labels))
    else:
        yield label_codes(labels, schema).astype(np.int64).view(np.uint64)
    if batch.weight is not None:
        yield _number_words(column_to_numbers(batch.weight.read()))


def _number_words(numbers: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return the bits of numbers. Equal numbers have equal bits, and so have missing values."""
    with np.errstate(all="ignore"):
        whole = np.where(np.isnan(numbers), np.nan, numbers + 0.0)  # -0.0 + 0.0 is 0.0
    return np.ascontiguousarray(whole, dtype=np.float64).view(np.uint64)
