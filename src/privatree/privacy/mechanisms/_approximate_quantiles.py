"""Quantiles of a column by halving: the middle one first, then those on either side [KSS22].

Each quantile is drawn by an exponential mechanism of its own, among the cells and on the rows that
the quantiles before it left over. So a record takes part once a level, not once a quantile, and
there are about log2(m) levels.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privatree.privacy._randomness import Randomness
from privatree.privacy.mechanisms._quantile_grid import QuantileGrid, intervals
from privatree.privacy.samplers._selection import select


@dataclass(frozen=True)
class ApproximateQuantiles(QuantileGrid):
    """Private quantiles of one numeric column, drawn by halving.

    The parameters are those of :class:`~privatree.privacy.mechanisms._quantile_grid.QuantileGrid`.
    Proofs are in ``docs/proofs/approximate-quantiles.md``.
    """

    name: ClassVar[str] = "approximate quantiles"

    @property
    def n_levels(self) -> int:
        """The depth of the halving, the logarithm of m + 1 to base 2 rounded up."""
        return len(self.quantiles).bit_length()

    def rate(self, level: int, share: Fraction) -> Fraction:
        """Weight lost, as a logarithm, for each row that a cell misses its share by.

        A record added to a part changes the misses of its cells by at most max(share, 1 - share),
        up or down. A replaced one changes those at the root, level 0, by at most 1; further down
        it can leave one part and enter another, each of which gets half of the level's budget.
        """
        budget = self.epsilon / self.n_levels
        sensitivity = max(share, 1 - share)
        if self.neighbours == "add-remove":
            return budget / (2 * sensitivity)
        return budget / 2 if level == 0 else budget / (4 * sensitivity)

    def release(
        self, exact_values: NDArray[np.float64], randomness: Randomness
    ) -> NDArray[np.float64]:
        """Draw the quantiles, as edges in non-decreasing order.

        Notes
        -----
        Neighbours: one row replaced, or one added or removed, as ``neighbours`` says.

        Sensitivity: of one quantile p of its part, max(p, 1 - p) for a row added or removed and 1
        for one replaced; see :meth:`rate`.

        Guarantee: ``epsilon``-differential privacy, exactly: every choice has the law of the
        exponential mechanism, whatever the rounding. The running time depends on the data.

        Cost: ``epsilon``, for all quantiles together, the same share for each level.
        """
        if self.low == self.high:
            return np.full(len(self.quantiles), float(self.low))
        part = _Part(self.sorted_cells(exact_values), 0, self.cells - 1, Fraction(0), Fraction(1))
        return self.edges(self._halve(part, self.quantiles, 0, randomness))

    def _halve(
        self,
        part: _Part,
        quantiles: tuple[Fraction, ...],
        level: int,
        randomness: Randomness,
    ) -> list[int]:
        """The cells of the quantiles of one part."""
        if not quantiles:
            return []
        if part.first == part.last:
            return [part.first] * len(quantiles)
        middle = len(quantiles) // 2
        quantile = quantiles[middle]
        share = (quantile - part.below) / (part.above - part.below)
        noisy_cell = _choose_cell(part, share, self.rate(level, share), randomness)
        left, right = part.cut(noisy_cell, quantile)
        return [
            *self._halve(left, quantiles[:middle], level + 1, randomness),
            noisy_cell,
            *self._halve(right, quantiles[middle + 1 :], level + 1, randomness),
        ]


@dataclass(frozen=True)
class _Part:
    """Cells first, ..., last, the sorted data cells among them, and the quantiles around them."""

    exact_cells: NDArray[np.int64]
    first: int
    last: int
    below: Fraction
    above: Fraction

    def cut(self, noisy_cell: int, quantile: Fraction) -> tuple[_Part, _Part]:
        """The parts up to a cell and after it; the latter keeps one cell at least."""
        rank = int(np.searchsorted(self.exact_cells, noisy_cell, side="right"))
        start = min(noisy_cell + 1, self.last)
        left = _Part(self.exact_cells[:rank], self.first, noisy_cell, self.below, quantile)
        return left, _Part(self.exact_cells[rank:], start, self.last, quantile, self.above)


def _choose_cell(part: _Part, share: Fraction, rate: Fraction, randomness: Randomness) -> int:
    """A cell with probability proportional to exp(-rate |rows up to it - share * rows|).

    Whole numbers: rows times the denominator of the share.
    """
    exact = intervals(part.exact_cells, part.first, part.last)
    target = share.numerator * len(part.exact_cells)
    exact_scores = -np.abs(exact.positions * share.denominator - target)
    chosen = select(
        exact_scores, rate / share.denominator, randomness, exact.widths.astype(np.float64)
    )
    return int(exact.starts[chosen]) + randomness.below(int(exact.widths[chosen]))
