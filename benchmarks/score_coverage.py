"""How often the intervals of private scores hold the true value, and how wide they are.

    python benchmarks/score_coverage.py [--repetitions 1000] [--cases "two classes;number"]
        [--json figures.json]

Populations are made up, with known true values. Each repetition samples n records from one, adds
the noise of a release at epsilon, and computes all metrics with their intervals from the noisy
tables alone, with the functions that ``release_scores`` uses. (Only the noise comes from numpy, so
that a thousand releases are made at once.)

- two classes: a score in 16 steps; the second class is 30%, or rare with 2%
- five classes, tree: 16 leaves; the rarest class is 2%
- five classes, ensemble: a table for each class; the rarest class is 2%
- two classes, nearly perfect: 5% are of the second class, and hardly any is predicted wrongly
- three classes, perfect: three leaves; the rarest class is 0.5%
- number: errors and targets with heavy tails; the range of the target fits, or is ten times too
  wide

Printed for each metric, of the largest class and of the rarest: the share of intervals that hold
the true value, their mean width and, in brackets, that without privacy: the exact binomial interval
of Clopper and Pearson for shares, else the same interval without noise. Case number c uses the
seeds c, 100 + c and so on, one for each n and epsilon.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from privatree.evaluation import _class_metrics as of_classes
from privatree.evaluation import _number_metrics as of_numbers
from privatree.evaluation._class_metrics import NoisyCounts
from privatree.evaluation._draws import LIMIT_SHARE, limit_octave, noise_moments
from privatree.evaluation._error_knots import KNOT_UNIT, ErrorKnots, Knots
from privatree.evaluation._inversion import Floats, Interval
from privatree.evaluation._number_metrics import KnotCounts
from privatree.evaluation._plan import PREDICTION_SHARE, SCORE_STEPS, step_middles
from result_files import add_json_option, write_result

SIZES, EPSILONS = (500, 5_000, 50_000), (0.05, 0.5, 5.0)
N_POPULATION = 8_000
CASES = (
    "two classes",
    "two classes, one rare",
    "five classes, tree",
    "five classes, ensemble",
    "number",
    "number, range ten times too wide",
    "two classes, nearly perfect",
    "three classes, perfect",
)
_WITHOUT = (1e-12, 1e-24)
Random: TypeAlias = np.random.Generator


class Found(NamedTuple):
    """A metric of many releases, the true value, and its width without privacy."""

    metric: str
    interval: Interval
    truth: Floats
    ideal: float


def noise(rng: Random, epsilon: float, shape: tuple[int, ...], cells: int = 1) -> Floats:
    stop = -np.expm1(-epsilon / cells)
    found: Floats = (rng.geometric(stop, shape) - rng.geometric(stop, shape)).astype(np.float64)
    return found


def binomial_width(share: float, size: float) -> float:
    """Return the mean width of the interval of Clopper and Pearson, near enough."""
    right = share * size
    low = beta.ppf(0.025, right, size - right + 1) if right > 0 else 0.0
    high = beta.ppf(0.975, right + 1, size - right) if right < size else 1.0
    return float(high - low)


# --- classes ------------------------------------------------------------------------------------


class Population(NamedTuple):
    """Records that stand for all: their classes, probabilities and columns."""

    labels: NDArray[np.int64]
    shares: Floats
    columns: NDArray[np.int64]
    predicted: NDArray[np.int64]
    """Of each column."""
    probabilities: Floats
    """Of each column."""


def two_classes(prior: float) -> Population:
    rng = np.random.default_rng(12)
    odds = rng.normal(np.log(prior / (1 - prior)), 2.0, N_POPULATION)
    second = 1 / (1 + np.exp(-odds))
    truth = 1 / (1 + np.exp(-0.8 * odds))  # the model is a little too sure
    labels = (rng.random(N_POPULATION) < truth * prior / truth.mean()).astype(np.int64)
    middles = step_middles()
    return Population(
        labels,
        np.stack([1 - second, second], axis=1),
        np.searchsorted(SCORE_STEPS, second),
        (middles > 0.5).astype(np.int64),
        np.stack([1 - middles, middles], axis=1),
    )


def five_classes(n_columns: int) -> Population:
    rng = np.random.default_rng(15)
    prior = np.array([0.4, 0.3, 0.18, 0.1, 0.02])
    of_column = rng.dirichlet(4 * prior, n_columns)
    of_column /= of_column.sum(axis=0) / (n_columns * prior)
    of_column /= of_column.sum(axis=1, keepdims=True)
    columns = rng.integers(n_columns, size=N_POPULATION)
    shares = of_column[columns]
    labels = (rng.random((N_POPULATION, 1)) > shares.cumsum(axis=1)).sum(axis=1).clip(0, 4)
    rough = of_column**0.8
    rough /= rough.sum(axis=1, keepdims=True)
    return Population(labels, rough[columns], columns, rough.argmax(axis=1), rough)


def nearly_perfect() -> Population:
    rng = np.random.default_rng(18)
    labels = (rng.random(N_POPULATION) < 0.05).astype(np.int64)
    middles = step_middles()
    places = np.clip(np.round(rng.normal(1.5 + 12 * labels, 2.0)), 0, len(middles) - 1)
    columns = places.astype(np.int64)
    probabilities = np.stack([1 - middles, middles], axis=1)
    return Population(
        labels, probabilities[columns], columns, (middles > 0.5).astype(np.int64), probabilities
    )


def perfect() -> Population:
    labels = np.random.default_rng(19).choice(3, N_POPULATION, p=[0.6, 0.395, 0.005])
    sure = np.eye(3)
    return Population(labels, sure[labels], labels, np.arange(3), sure)


def sample(rng: Random, n: int, repetitions: int) -> Floats:
    shares = np.full(N_POPULATION, 1 / N_POPULATION)
    return rng.multinomial(n, shares, size=repetitions).astype(np.float64)


def counted(samples: Floats, *places: NDArray[np.int64], shape: tuple[int, ...]) -> Floats:
    """Return tables of the samples by one or more positions of each record."""
    cell = np.ravel_multi_index(places, shape)
    table = np.zeros((N_POPULATION, int(np.prod(shape))))
    table[np.arange(N_POPULATION), cell] = 1.0
    return (samples @ table).reshape(len(samples), *shape)


def class_metrics(table: NoisyCounts, probabilities: Floats | None) -> dict[str, Interval]:
    """Return all metrics of a main table."""
    rarest = table.n_classes - 1
    found = {
        "accuracy": of_classes.accuracy(table),
        "balanced accuracy": of_classes.balanced_accuracy(table),
    }
    for called, one in (("largest", 0), ("rarest", rarest)):
        found[f"recall, {called} class"] = of_classes.recall(table, one)
        precision = of_classes.precision(table, one)
        if precision is not None:
            found[f"precision, {called} class"] = precision
    if probabilities is None:
        return found
    found["AUC"] = of_classes.macro_area(table, probabilities)
    found["Brier score"] = of_classes.brier_score(table, probabilities)
    found["log loss"] = of_classes.log_loss(table, probabilities)
    curve = of_classes.curve_of_class(table, probabilities[:, rarest], rarest)
    for place, point in enumerate(curve):
        found[f"calibration, point {place + 1}"] = point.share
    return found


def rest_metrics(rest: Floats, moments: tuple[float, float]) -> dict[str, Interval]:
    """Return the metrics of the tables of all classes against their rest."""
    middles = step_middles()
    found = {
        "AUC": of_classes.macro_area_against_rest(rest, moments, middles),
        "Brier score": of_classes.brier_against_rest(rest, moments, middles),
        "log loss": of_classes.log_loss_against_rest(rest, moments, middles),
    }
    curve = of_classes.curve_against_rest(rest[:, -1], moments, middles)
    for place, point in enumerate(curve):
        found[f"calibration, point {place + 1}"] = point.share
    return found


def of_population(
    of: Population, case: str, rng: Random, n: int, epsilon: float, times: int
) -> Any:
    """Return the metrics of noisy samples, of samples without noise, and of the population."""
    samples = sample(rng, n, times)
    everything = np.full((1, N_POPULATION), 1e9 / N_POPULATION)
    k, n_columns = of.labels.max() + 1, len(of.predicted)
    results = []
    for drawn, is_noisy in ((samples, True), (samples, False), (everything, False)):
        main = counted(drawn, of.labels, of.columns, shape=(k, n_columns))
        by_prediction = counted(drawn, of.labels, of.predicted[of.columns], shape=(k, k))

        def noisy(
            exact: Floats, share: float, is_noisy: bool = is_noisy, cells: int = 1
        ) -> tuple[Floats, tuple[float, float]]:
            if not is_noisy:
                return exact, _WITHOUT
            moments = noise_moments(epsilon * share / cells)
            return exact + noise(rng, epsilon * share, exact.shape, cells), moments

        second = float(PREDICTION_SHARE)
        if case == "five classes, ensemble":
            counts, moments = noisy(by_prediction, second)
            found = class_metrics(NoisyCounts(counts, moments, np.arange(k)), None)
            steps = np.searchsorted(SCORE_STEPS, of.shares)
            tables = [
                counted(drawn, (of.labels == one).astype(int), steps[:, one],
                        shape=(2, len(SCORE_STEPS) + 1))
                for one in range(k)
            ]  # fmt: skip
            rest, moments = noisy(np.stack(tables, axis=1), 1 - second, cells=int(k))
            found |= rest_metrics(rest, moments)
        elif n_columns <= 4 * k:
            counts, moments = noisy(main, 1.0)
            found = class_metrics(NoisyCounts(counts, moments, of.predicted), of.probabilities)
        else:
            counts, moments = noisy(main, 1 - second)
            more, of_more = noisy(by_prediction, second)
            table = NoisyCounts(counts, moments, of.predicted, more, of_more)
            found = class_metrics(table, of.probabilities)
        results.append(found)
    return (*results, sizes_of_shares(of))


def sizes_of_shares(of: Population) -> dict[str, float]:
    """Return the share of the records that each share is among."""
    k, predicted = of.labels.max() + 1, of.predicted[of.columns]
    found = {"accuracy": 1.0}
    for called, one in (("largest", 0), ("rarest", k - 1)):
        found[f"recall, {called} class"] = float(np.mean(of.labels == one))
        found[f"precision, {called} class"] = float(np.mean(predicted == one))
    return found


def classes(case: str, rng: Random, n: int, epsilon: float, times: int) -> Iterator[Found]:
    of = {
        "two classes": lambda: two_classes(0.3),
        "two classes, one rare": lambda: two_classes(0.02),
        "five classes, tree": lambda: five_classes(16),
        "five classes, ensemble": lambda: five_classes(N_POPULATION // 8),
        "two classes, nearly perfect": nearly_perfect,
        "three classes, perfect": perfect,
    }[case]()
    if case == "five classes, ensemble":  # columns are predictions
        predicted = of.predicted[of.columns]
        of = of._replace(columns=predicted, predicted=np.arange(5))
    private, plain, true, among = of_population(of, case, rng, n, epsilon, times)
    for metric, interval in private.items():
        truth = true[metric].value
        if metric in among:
            ideal = binomial_width(float(truth[0]), n * among[metric])
        else:
            ideal = float(np.mean(plain[metric].high - plain[metric].low))
        yield Found(metric, interval, truth, ideal)


# --- numbers ------------------------------------------------------------------------------------


def numbers(case: str, rng: Random, n: int, epsilon: float, times: int) -> Iterator[Found]:
    made = np.random.default_rng(17)
    predicted = made.choice(made.gamma(6, 4, 16), N_POPULATION)
    actual = np.clip(predicted + 6 * made.standard_t(4, N_POPULATION), 0, 100)
    knots = ErrorKnots(0.0, 1000.0 if "wide" in case else 100.0, float(predicted.mean()))
    samples = sample(rng, n, times)
    errors, targets = np.abs(actual - predicted), actual - knots.centre
    parts = [
        _limited_groups(rng, samples, of_knots, values, epsilon)
        for of_knots, values in ((knots.errors, errors), (knots.targets, targets))
    ]
    functions: dict[str, Callable[[KnotCounts, KnotCounts], Interval]] = {
        "R²": of_numbers.explained_variance,
        "mean absolute error": lambda errors, _: of_numbers.mean_absolute_error(errors),
        "root mean squared error": lambda errors, _: of_numbers.root_mean_squared_error(errors),
    }
    groups = np.stack([parts[0][0], parts[1][0]], axis=1)
    found = {name: np.empty((6, times)) for name in functions}
    for octaves in np.unique(groups, axis=0):
        here = np.flatnonzero((groups == octaves).all(axis=1))
        limits = [part[1][octave] for part, octave in zip(parts, octaves, strict=True)]
        noisy, plain = (
            [
                KnotCounts(limit.counts[kind][here], limit.values, moments)
                for limit, moments in zip(limits, both, strict=True)
            ]
            for kind, both in ((0, [part[2] for part in parts]), (1, [_WITHOUT, _WITHOUT]))
        )
        limited = np.minimum(errors, noisy[0].values[-1])
        near = np.clip(targets, noisy[1].values[0], noisy[1].values[-1])
        truths = {
            "R²": 1 - np.mean(limited**2) / near.var(),
            "mean absolute error": limited.mean(),
            "root mean squared error": np.sqrt(np.mean(limited**2)),
        }
        for name, function in functions.items():
            one, two = function(*noisy), function(*plain)
            rows = [*one, np.full(len(here), truths[name]), two.low, two.high]
            found[name][:, here] = rows
    for name, (value, low, high, truth, least, most) in found.items():
        yield Found(name, Interval(value, low, high), truth, float(np.mean(most - least)))


class _Limited(NamedTuple):
    """Noisy counts and exact counts at the knots up to a limit, of all repetitions."""

    counts: tuple[Floats, Floats]
    values: Floats


def _limited_groups(
    rng: Random, samples: Floats, knots: Knots, values: Floats, epsilon: float
) -> tuple[NDArray[np.int64], dict[int, _Limited], tuple[float, float]]:
    """Return each release's octave, the counts for each octave, and the moments of their noise."""
    weights = np.zeros((N_POPULATION, knots.n_knots), dtype=np.int64)
    for row, value in enumerate(values):
        knots.add(np.array([value]), np.array([1]), weights[row])
    of_octaves = np.array([knots.octaves(one) for one in weights]) / KNOT_UNIT
    first = epsilon * float(LIMIT_SHARE)
    variance = noise_moments(first)[0]
    noisy = samples @ of_octaves
    noisy += noise(rng, first, noisy.shape)
    octaves = np.array([limit_octave(one, variance) for one in noisy])
    second = epsilon * (0.5 - float(LIMIT_SHARE))
    found = {}
    for octave in np.unique(octaves).tolist():
        limit = knots.limited(octave)
        shares = np.array([limit.merge(one) for one in weights]) / KNOT_UNIT**2
        merged = samples @ shares
        found[octave] = _Limited((merged + noise(rng, second, merged.shape), merged), limit.values)
    return octaves, found, noise_moments(second)


# --- printing -----------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--cases", default=";".join(CASES), help="separated by semicolons")
    add_json_option(parser)
    given = parser.parse_args()
    figures: list[dict[str, Any]] = []
    for case in given.cases.split(";"):
        print(f"\n{case}")
        for turn, (n, epsilon) in enumerate((n, e) for n in SIZES for e in EPSILONS):
            rng = np.random.default_rng(100 * turn + CASES.index(case))
            measure = numbers if case.startswith("number") else classes
            print(f"  {n:,} records, epsilon {epsilon:g}")
            for metric, interval, truth, ideal in measure(case, rng, n, epsilon, given.repetitions):
                if np.isnan(truth).any():  # a share of no records
                    continue
                tiny = 1e-9
                holds = (interval.low <= truth + tiny) & (truth - tiny <= interval.high)
                width = float(np.mean(interval.high - interval.low))
                figures.append(
                    {"case": case, "records": n, "epsilon": epsilon, "metric": metric,
                     "coverage": float(holds.mean()), "width": width, "ideal_width": ideal,
                     "repetitions": given.repetitions}
                )  # fmt: skip
                print(f"    {metric:28} {holds.mean():.3f}  {width:.4f} ({ideal:.4f})", flush=True)
    least = min(figures, key=lambda row: row["coverage"])
    print(f"\nleast coverage: {least['coverage']:.3f} ({least['case']}, {least['metric']})")
    write_result(given.json, figures, "case number c: 100 t + c for the t-th pair of n and epsilon")


if __name__ == "__main__":
    main()
