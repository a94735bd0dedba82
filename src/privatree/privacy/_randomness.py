"""The one source of randomness: operating-system entropy, or a seed for tests and papers.

Nothing else in privatree draws random bits. The operating-system source keeps no buffer between
calls, so a forked or pickled copy can never repeat noise that was already used. A seeded source is
the opposite on purpose: every copy of it continues the same stream, and two draws of the same seed
share their noise.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privatree._support.validation import is_integer
from privatree.errors import ParameterError


class Randomness:
    """Uniform random 64-bit words and integers.

    Parameters
    ----------
    seed : int, optional
        Without it every bit comes from the operating system. With it the stream is reproducible,
        and therefore not secret: whoever knows the seed can subtract the noise.

    Notes
    -----
    The operating system's source is :func:`os.urandom`. On Linux it waits, early after a machine
    starts, until there is entropy. Where there is no such source it raises NotImplementedError;
    that or an OSError is passed on, so that nothing is ever drawn from a weaker one.
    """

    def __init__(self, seed: int | None = None) -> None:
        self._generator = None if seed is None else np.random.PCG64(seed)

    @classmethod
    def from_random_state(cls, random_state: Any) -> Randomness:
        """Read scikit-learn's ``random_state``: None, an int or a numpy random generator."""
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
        """Whether the stream is reproducible, hence not secret."""
        return self._generator is not None

    def words(self, count: int) -> NDArray[np.uint64]:
        """``count`` independent uniform 64-bit words."""
        if self._generator is None:
            return np.frombuffer(self._bytes(8 * count), dtype=np.uint64)
        return np.asarray(self._generator.random_raw(count), dtype=np.uint64)

    def bits(self, count: int) -> int:
        """A uniform integer of ``count`` bits."""
        if self._generator is None:
            n_bytes = -(-count // 8)
            return int.from_bytes(self._bytes(n_bytes), "little") >> (8 * n_bytes - count)
        n_words = -(-count // 64)
        value = int.from_bytes(self.words(n_words).astype("<u8").tobytes(), "little")
        return value >> (64 * n_words - count)

    def _bytes(self, count: int) -> bytes:
        """Fresh from the operating system: what were kept for later could be used twice."""
        return os.urandom(count)

    def below(self, bound: int) -> int:
        """A uniform integer in ``0, ..., bound - 1``, by rejection: exact for any size."""
        if bound < 1:
            raise ParameterError(f"bound must be >= 1, got {bound}.", "bound")
        count = (bound - 1).bit_length()
        while True:
            value = self.bits(count)
            if value < bound:
                return value

    def spawn(self, count: int) -> list[Randomness]:
        """Independent sources, one for each of several draws made at the same time."""
        return [Randomness(self.bits(128) if self.seeded else None) for _ in range(count)]
