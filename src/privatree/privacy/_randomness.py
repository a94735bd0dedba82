"""The only source of random bits in privatree: the operating system, or a seed.

The source from the operating system keeps no buffer between calls, so a forked or pickled copy
never repeats noise that was already used. A seeded source is reproducible on purpose: every copy
continues the same stream, and two sources with the same seed give the same noise.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree._support.validation import is_integer
from privatree.errors import ParameterError


class Randomness:
    """Source of uniform random 64-bit words and integers.

    Parameters
    ----------
    seed : int, optional
        Seed of a reproducible stream. The noise is then not secret: whoever knows the seed can
        subtract the noise. Without a seed every bit comes from the operating system.

    Notes
    -----
    Bits of the operating system come from :func:`os.urandom`. On Linux it blocks early after boot,
    until there is enough entropy. Its errors (NotImplementedError, OSError) are passed on, so that
    nothing is ever drawn from a weaker source.

    Examples
    --------
    >>> Randomness(seed=0).below(100) == Randomness(seed=0).below(100)
    True
    >>> Randomness().seeded
    False
    """

    def __init__(self, seed: int | None = None) -> None:
        self._generator = None if seed is None else np.random.PCG64(seed)

    @classmethod
    def from_random_state(cls, random_state: Any) -> Randomness:
        """Make a source from scikit-learn's ``random_state``: None, an int or a numpy generator."""
        if random_state is None:
            return cls()
        if is_integer(random_state):
            if random_state < 0:
                raise ParameterError(
                    f"random_state must be >= 0, got {random_state}.", "random_state"
                )
            return cls(int(random_state))
        if isinstance(random_state, np.random.Generator):
            return cls(int(random_state.integers(2**63)))
        if isinstance(random_state, np.random.RandomState):
            return cls(int(random_state.randint(2**31)))
        raise ParameterError(
            f"random_state must be None, an int or a numpy generator, "
            f"got {type(random_state).__name__}.",
            "random_state",
        )

    @property
    def seeded(self) -> bool:
        """Whether the stream comes from a seed, and is therefore not secret."""
        return self._generator is not None

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return ``count`` independent uniform 64-bit words."""
        if self._generator is None:
            return np.frombuffer(self._bytes(8 * count), dtype=np.uint64)
        return np.asarray(self._generator.random_raw(count), dtype=np.uint64)

    def bits(self, count: int) -> int:
        """Return a uniform integer of ``count`` bits."""
        if self._generator is None:
            n_bytes = -(-count // 8)
            return int.from_bytes(self._bytes(n_bytes), "little") >> (8 * n_bytes - count)
        n_words = -(-count // 64)
        value = int.from_bytes(self.words(n_words).astype("<u8").tobytes(), "little")
        return value >> (64 * n_words - count)

    def _bytes(self, count: int) -> bytes:
        """Return fresh bytes. None are kept for later: a fork could use them a second time."""
        return os.urandom(count)

    def below(self, bound: int) -> int:
        """Return a uniform integer from 0 to ``bound - 1``, exactly, by rejection."""
        if bound < 1:
            raise ParameterError(f"bound must be >= 1, got {bound}.", "bound")
        count = (bound - 1).bit_length()
        while True:
            value = self.bits(count)
            if value < bound:
                return value

    def spawn(self, count: int) -> list[Randomness]:
        """Return independent sources for draws that are made at the same time."""
        return [Randomness(self.bits(128) if self.seeded else None) for _ in range(count)]
