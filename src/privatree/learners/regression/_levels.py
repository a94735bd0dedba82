"""Levels of a numeric target, around an interval that most targets lie in.

Training uses the levels as ordered classes. Inside the interval they are narrow and equally wide,
outside they double in width. So a target far away is few levels away, however wide the range is.

All places are target codes, whole numbers from 0 to ``TARGET_CODES``. Levels follow from the schema
and the released interval, so they are public.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from privatree.schema import TARGET_CODES

_STEPS = 8
"""Number of levels inside the interval."""
_DOUBLINGS = (1, 3, 7, 15)
"""Distances of the cuts outside the interval from its end, in quarters of its width."""
MAX_LEVELS = _STEPS + 1 + 2 * len(_DOUBLINGS) + 1
"""Largest number of levels."""


@dataclass(frozen=True)
class TargetLevels:
    """Levels around an interval of the target.

    Parameters
    ----------
    start, stop : int
        Ends of the interval in target codes, from 0 to `TARGET_CODES`, and at least 8 codes apart.

    Examples
    --------
    >>> levels = TargetLevels(0, 65536)
    >>> levels.cuts
    (8192, 16384, 24576, 32768, 40960, 49152, 57344)
    >>> levels.middles[0]
    4096.0
    >>> TargetLevels.around((Fraction(1, 4), Fraction(1, 2))).n_levels
    15
    """

    start: int
    stop: int

    @classmethod
    def around(cls, ends: tuple[Fraction, Fraction]) -> TargetLevels:
        """Return the levels around an interval, given as shares of the coded range.

        An interval of fewer than 8 codes is widened.
        """
        start, stop = (int(TARGET_CODES * end) for end in ends)
        start = min(start, TARGET_CODES - _STEPS)
        return cls(start, max(stop, start + _STEPS))

    @cached_property
    def cuts(self) -> tuple[int, ...]:
        """The smallest code of each level but the first."""
        width = self.stop - self.start
        places = {self.start + width * step // _STEPS for step in range(_STEPS + 1)}
        places |= {self.start - width * times // 4 for times in _DOUBLINGS}
        places |= {self.stop + width * times // 4 for times in _DOUBLINGS}
        return tuple(sorted(place for place in places if 0 < place < TARGET_CODES))

    @property
    def n_levels(self) -> int:
        """Number of levels, at least 2 and at most `MAX_LEVELS`."""
        return len(self.cuts) + 1

    @cached_property
    def middles(self) -> tuple[float, ...]:
        """The middle of each level. The first and last level count as wide as their neighbours."""
        cuts = self.cuts
        first, last = 0, TARGET_CODES
        if len(cuts) > 1:
            first = max(first, cuts[0] - (cuts[1] - cuts[0]))
            last = min(last, cuts[-1] + (cuts[-1] - cuts[-2]))
        edges = (first, *cuts, last)
        return tuple((low + high) / 2 for low, high in pairwise(edges))

    def level_of_code(self) -> NDArray[np.int64]:
        """Return the level of every target code."""
        return np.searchsorted(self.cuts, np.arange(TARGET_CODES), side="right")
