"""Metrics of a classifier from noisy tables, each with its interval, for many releases at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree.evaluation._inversion import (
    NORMAL,
    Floats,
    Interval,
    Noise,
    SumTest,
    clean_shares,
    interpolated_spread,
    invert,
    is_one_sided,
    mean_of,
    mean_of_dependent,
    share_spread,
    tilted_spread,
)

LEAST_PROBABILITY = 0.001
"""Smaller probabilities count as this one in the log loss."""
CURVE_STEPS = np.array([0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95])
"""Probabilities at which the points of a calibration curve are divided."""
_NO_NOISE = (0.0, 0.0)
_N_TILTS = 81
_FARTHEST_TILT = 60.0


@dataclass(frozen=True, eq=False)
class NoisyCounts:
    """Noisy counts by true class and column, an array (release, class, column), in records.

    Parameters
    ----------
    main : ndarray
        Counts by class and column.
    main_noise : tuple of float
        Variance and fourth cumulant of the noise in each.
    predicted : ndarray of shape (n_columns,)
        Predicted class of each column.
    by_prediction : ndarray, optional
        Counts by true and predicted class, an array (release, class, class), with noise of their
        own.
    prediction_noise : tuple of float, optional
        Its variance and fourth cumulant.
    """

    main: Floats
    main_noise: tuple[float, float]
    predicted: NDArray[np.int64]
    by_prediction: Floats | None = None
    prediction_noise: tuple[float, float] = (0.0, 0.0)

    @property
    def n_classes(self) -> int:
        return int(self.main.shape[1])

    @cached_property
    def _of_prediction(self) -> Floats:
        """Whether a column predicts a class, an array (column, class) of 0 and 1."""
        columns: Floats = np.equal.outer(self.predicted, np.arange(self.n_classes)).astype(float)
        return columns

    @cached_property
    def _pull(self) -> Floats:
        """Share of a prediction's surplus that is taken from each of its columns."""
        n_columns = self._of_prediction.sum(axis=0)
        own, other = self.main_noise[0], self.prediction_noise[0]
        if self.by_prediction is None:
            return np.zeros(self.n_classes)
        pull: Floats = own / np.maximum(other + n_columns * own, 1e-300)  # without noise: 0
        return pull

    @cached_property
    def counts(self) -> Floats:
        """The counts that both tables together say, of least variance."""
        if self.by_prediction is None:
            return self.main
        surplus = (self.by_prediction - self.main @ self._of_prediction) * self._pull
        return self.main + surplus @ self._of_prediction.T

    @cached_property
    def noise(self) -> Noise:
        """Noise of the draws in both tables, in the order of :meth:`factors`."""
        n_main = self.main.shape[1] * self.main.shape[2]
        n_more = 0 if self.by_prediction is None else self.n_classes**2
        return Noise(
            *(
                np.concatenate([np.full(n_main, own), np.full(n_more, other)])
                for own, other in zip(self.main_noise, self.prediction_noise, strict=True)
            )
        )

    def factors(self, weights: Floats) -> Floats:
        """Return how the draws enter a weighted sum of `counts`, an array (release, draw).

        `weights` are an array (class, column), or (release, class, column).
        """
        weights = np.broadcast_to(weights, (*weights.shape[:-2], *self.main.shape[1:]))
        if self.by_prediction is None:
            flat = weights.reshape(*weights.shape[:-2], -1)
        else:
            pulled = (weights @ self._of_prediction) * self._pull
            own = weights - pulled @ self._of_prediction.T
            flat = np.concatenate(
                [part.reshape(*part.shape[:-2], -1) for part in (own, pulled)], axis=-1
            )
        return flat if flat.ndim == 2 else flat[None, :]

    def share(self, counted: NDArray[np.bool_], among: NDArray[np.bool_]) -> Interval:
        """Return the share of some cells among others, which include them."""
        ones, all_of = counted.astype(np.float64), among.astype(np.float64)
        test = SumTest(
            (self.counts * ones).sum(axis=(1, 2)),
            (self.counts * all_of).sum(axis=(1, 2)),
            self.factors(ones),
            self.factors(all_of),
            self.noise,
        )
        return invert(test, share_spread(np.maximum(test.size, 0.0)), 0.0, 1.0, 1.0)

    def mean(self, values: Floats, low: float, high: float) -> Interval:
        """Return the mean over all records of the values of their cells."""
        everything = np.ones_like(values)
        size = self.counts.sum(axis=(1, 2))
        test = SumTest(
            (self.counts * values).sum(axis=(1, 2)),
            size,
            self.factors(values),
            self.factors(everything),
            self.noise,
        )
        flat = self.counts.reshape(len(self.counts), -1)
        spread = tilted_spread(clean_shares(flat), values.reshape(1, -1), np.maximum(size, 0.0))
        return invert(test, spread, low, high, 0.0)


# --- metrics of predictions ---------------------------------------------------------------------


def accuracy(table: NoisyCounts) -> Interval:
    right = np.arange(table.n_classes)[:, None] == table.predicted
    return table.share(right, np.ones_like(right))


def recall(table: NoisyCounts, one: int) -> Interval:
    """Return the share of the records of a class for which it is predicted."""
    is_class = np.repeat(np.arange(table.n_classes)[:, None] == one, len(table.predicted), axis=1)
    if not (table.predicted == one).any():  # public: the model never predicts it
        nothing = np.zeros(len(table.main))
        return Interval(nothing, nothing, nothing)
    return table.share(is_class & (table.predicted == one), is_class)


def precision(table: NoisyCounts, one: int) -> Interval | None:
    """Return the share of a class among the records for which it is predicted."""
    is_class = np.repeat(np.arange(table.n_classes)[:, None] == one, len(table.predicted), axis=1)
    is_predicted = np.broadcast_to(table.predicted == one, is_class.shape)
    if not is_predicted.any():
        return None
    return table.share(is_class & is_predicted, is_predicted)


def balanced_accuracy(table: NoisyCounts) -> Interval:
    return mean_of([recall(table, one) for one in range(table.n_classes)])


# --- metrics of probabilities -------------------------------------------------------------------


def brier_values(probabilities: Floats) -> Floats:
    """Return the Brier score of each cell; of two classes that of the second one."""
    n = probabilities.shape[1]
    wrong = np.eye(n)[:, None, :] - probabilities[None, :, :]
    total: Floats = (wrong**2).sum(axis=2)
    return total / 2 if n == 2 else total


def log_loss_values(probabilities: Floats) -> Floats:
    """Return the log loss of each cell."""
    return -np.log(np.clip(probabilities, LEAST_PROBABILITY, 1.0)).T


def area_under_curve(
    test_of: Callable[[Floats, Floats, Floats, Floats], SumTest],
    positive: Floats,
    negative: Floats,
    scores: Floats,
) -> Interval:
    """Return the probability that a record of a class has a larger score than another record.

    Equal scores count half. `positive` and `negative` are counts by column, of the class and of
    all others, and `scores` those of the columns. `test_of` makes the test from the total, the
    size, and the weights of the positive and negative counts in both.
    """
    order = (scores[:, None] > scores) + 0.5 * (scores[:, None] == scores)
    m, n = positive.sum(axis=1), negative.sum(axis=1)
    total = np.einsum("ri,ij,rj->r", positive, order, negative)
    test = test_of(total, m * n, negative @ order.T, positive @ order)
    m, n = np.maximum(m, 0.0), np.maximum(n, 0.0)
    of_positive, of_negative = clean_shares(positive), clean_shares(negative)
    placed_positive, placed_negative = of_negative @ order.T, of_positive @ order
    fewer = np.minimum(m, n)
    pull_positive = (fewer / np.maximum(m, 1e-9))[:, None] * placed_positive
    pull_negative = (fewer / np.maximum(n, 1e-9))[:, None] * placed_negative
    tilts = np.sinh(np.linspace(-1, 1, _N_TILTS) * np.arcsinh(_FARTHEST_TILT * 10)) / 10
    means, variances = [], []
    for tilt in tilts:
        p, q = _tilt(of_positive, tilt * pull_positive), _tilt(of_negative, tilt * pull_negative)
        above, below = q @ order.T, p @ order
        mean = np.sum(p * above, axis=1)
        means.append(mean)
        variances.append(
            m * n**2 * np.sum(p * (above - mean[:, None]) ** 2, axis=1)
            + n * m**2 * np.sum(q * (below - mean[:, None]) ** 2, axis=1)
        )
    spread = interpolated_spread(np.array(means).T, np.array(variances).T, np.ones(len(total)))
    return invert(test, spread, 0.0, 1.0, 0.0)


def _tilt(shares: Floats, power: Floats) -> Floats:
    tilted = shares * np.exp(power - power.max(axis=1, keepdims=True))
    return np.asarray(tilted / tilted.sum(axis=1, keepdims=True))


def area_of_class(table: NoisyCounts, scores: Floats, one: int) -> Interval:
    """Return the area under the ROC curve of a class against all others, from the main table."""
    is_class = (np.arange(table.n_classes) == one)[None, :, None]
    positive = table.counts[:, one]
    negative = table.counts.sum(axis=1) - positive

    def test_of(total: Floats, size: Floats, of_positive: Floats, of_negative: Floats) -> SumTest:
        of_total = np.where(is_class, of_positive[:, None, :], of_negative[:, None, :])
        m, n = positive.sum(axis=1), negative.sum(axis=1)
        of_size = np.where(is_class, n[:, None, None], m[:, None, None]) * np.ones_like(of_total)
        known = (m > 0) & (n > 0)
        return SumTest(
            total,
            np.where(known, size, -1.0),
            table.factors(of_total),
            table.factors(of_size),
            table.noise,
        )

    return area_under_curve(test_of, positive, negative, scores)


def area_against_rest(rest: Floats, noise: tuple[float, float], scores: Floats) -> Interval:
    """Return the area under the ROC curve of a class from its own table, (release, is it, step)."""
    positive, negative = rest[:, 1], rest[:, 0]

    def test_of(total: Floats, size: Floats, of_positive: Floats, of_negative: Floats) -> SumTest:
        m, n = positive.sum(axis=1), negative.sum(axis=1)
        ones = np.ones_like(positive)
        known = (m > 0) & (n > 0)
        return SumTest(
            total,
            np.where(known, size, -1.0),
            np.concatenate([of_positive, of_negative], axis=1),
            np.concatenate([ones * n[:, None], ones * m[:, None]], axis=1),
            Noise(np.asarray(noise[0]), np.asarray(noise[1])),
        )

    return area_under_curve(test_of, positive, negative, scores)


def macro_area(table: NoisyCounts, probabilities: Floats) -> Interval:
    """Return the mean area of all classes against their rest; of two classes that of the second.

    The interval of the mean follows from how each cell of the table changes it (delta method).
    Where the area of a class has an interval that is cut off, the ends are means of ends.
    """
    n = table.n_classes
    if n == 2:
        return area_of_class(table, probabilities[:, 1], 1)
    parts = [area_of_class(table, probabilities[:, one], one) for one in range(n)]
    whole = mean_of_dependent(parts)
    effects = sum(
        _effects_on_area(table, probabilities[:, one], one, part) for one, part in enumerate(parts)
    )
    effects = np.asarray(effects) / n
    noise = (table.factors(effects) ** 2 * table.noise.variance).sum(axis=1)
    sampled = (np.maximum(table.counts, 0.0) * effects**2).sum(axis=(1, 2))
    reach = NORMAL * np.sqrt(noise + sampled)
    is_plain = ~np.any([is_one_sided(part) for part in parts], axis=0)
    return Interval(
        whole.value,
        np.where(is_plain, np.maximum(whole.value - reach, whole.low), whole.low),
        np.where(is_plain, np.minimum(whole.value + reach, whole.high), whole.high),
    )


def _effects_on_area(table: NoisyCounts, scores: Floats, one: int, area: Interval) -> Floats:
    """Return how much a record more in each cell changes the area of a class."""
    order = (scores[:, None] > scores) + 0.5 * (scores[:, None] == scores)
    positive = table.counts[:, one]
    negative = table.counts.sum(axis=1) - positive
    m, n = (np.maximum(part.sum(axis=1), 1.0)[:, None] for part in (positive, negative))
    value = np.nan_to_num(area.value)[:, None]
    of_positive = (negative @ order.T / n - value) / m
    of_negative = (positive @ order / m - value) / n
    is_class = (np.arange(table.n_classes) == one)[None, :, None]
    return np.asarray(np.where(is_class, of_positive[:, None, :], of_negative[:, None, :]))


def macro_area_against_rest(rest: Floats, noise: tuple[float, float], steps: Floats) -> Interval:
    """Return the mean area of all classes from their tables, (release, class, is it, step)."""
    found = [
        [area_against_rest(rest[:, one], moments, steps) for one in range(rest.shape[1])]
        for moments in (noise, _NO_NOISE)
    ]
    return mean_of(*found)


def _within(found: Interval, high: float) -> Interval:
    return Interval(*(np.clip(each, 0.0, high) for each in found))


def brier_score(table: NoisyCounts, probabilities: Floats) -> Interval:
    return table.mean(brier_values(probabilities), 0.0, 1.0 if probabilities.shape[1] == 2 else 2.0)


def log_loss(table: NoisyCounts, probabilities: Floats) -> Interval:
    return table.mean(log_loss_values(probabilities), 0.0, -float(np.log(LEAST_PROBABILITY)))


# --- tables of each class against the rest ------------------------------------------------------


def brier_against_rest(rest: Floats, noise: tuple[float, float], steps: Floats) -> Interval:
    """Return the Brier score from the tables of all classes, (release, class, is it, step).

    It is the sum of the scores of the classes.
    """
    values, n = np.stack([steps**2, (1 - steps) ** 2]), rest.shape[1]
    found = [
        [_rest_mean(rest[:, one], moments, values, 1.0) for one in range(n)]
        for moments in (noise, _NO_NOISE)
    ]
    return _within(Interval(*(part * n for part in mean_of(*found))), 2.0)


def log_loss_against_rest(rest: Floats, noise: tuple[float, float], steps: Floats) -> Interval:
    """Return the log loss from the records of each class in its own table."""
    own = rest[:, :, 1]
    values = np.repeat(-np.log(np.maximum(steps, LEAST_PROBABILITY))[None], own.shape[1], axis=0)
    table = NoisyCounts(own, noise, np.zeros(own.shape[2], dtype=np.int64))
    return table.mean(values, 0.0, -float(np.log(LEAST_PROBABILITY)))


def _rest_mean(counts: Floats, noise: tuple[float, float], values: Floats, high: float) -> Interval:
    table = NoisyCounts(counts, noise, np.zeros(counts.shape[2], dtype=np.int64))
    return table.mean(values, 0.0, high)


# --- calibration --------------------------------------------------------------------------------


class CurveGroup(NamedTuple):
    """Records with about the same predicted probability, for many releases."""

    predicted: Floats
    share: Interval
    size: Floats


def curve_of_class(table: NoisyCounts, scores: Floats, one: int) -> list[CurveGroup]:
    """Return how often a class occurs, by groups of its predicted probability."""
    group = np.searchsorted(CURVE_STEPS, scores)
    is_class = np.arange(table.n_classes)[:, None] == one
    found = []
    for here in np.unique(group):
        among = np.broadcast_to(group == here, table.main.shape[1:])
        size = (table.counts * among).sum(axis=(1, 2))
        own = scores[group == here]
        predicted = (table.counts * among * scores).sum(axis=(1, 2)) / np.where(size > 0, size, 1.0)
        predicted = np.clip(predicted, own.min(), own.max())
        found.append(CurveGroup(predicted, table.share(among & is_class, among), size))
    return found


def curve_against_rest(rest: Floats, noise: tuple[float, float], steps: Floats) -> list[CurveGroup]:
    """Return the curve of a class from its own table, (release, is it, step)."""
    table = NoisyCounts(rest, noise, np.zeros(rest.shape[2], dtype=np.int64))
    return curve_of_class(table, steps, 1)
