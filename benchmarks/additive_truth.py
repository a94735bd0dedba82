"""Whether the curves of an ensemble can be believed: made-up records of which the truth is known.

    python benchmarks/additive_truth.py [--seeds 100] [--epsilon 1] [--jobs 2] [--json figures.json]

The log-odds of 20,000 records are a sum of a wave in ``a``, a step in ``b``, a value for each
category of ``c`` and a product of ``d`` and ``e``. Three more numbers are noise. Printed are how
often these four terms are the four strongest of the ensemble and, for each of them, the share of
the public measure where the shown curve is right: the truth is within the band around it, or it is
off by at most 15% of the range of the truth. For the noise, it is the share where its terms are
inside their bands, and the strength of the strongest of them. A wide band proves nothing, so
its mean half width is printed as well, as a share of the range of the truth.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context
from statistics import mean
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from accuracy import header, show
from privatree import Categorical, Numeric, PrivaBoostClassifier, Schema
from result_files import add_json_option, write_result

N_RECORDS, DELTA = 20_000, 1e-6
CATEGORIES = list("uvwxyz")
CATEGORY_VALUES = np.array([-1.2, -0.6, 0.0, 0.1, 0.6, 1.1])
NUMBERS = list("abdefgh")
NOISE = {"f", "g", "h"}
CURVES = {"a": "a wave", "b": "a step", "c": "six categories", "d e": "a product of two"}
GRID = (np.arange(1000) + 0.5) / 100
NEAR, ENOUGH = 0.15, 0.9

Floats = NDArray[np.float64]


class Curve(NamedTuple):
    """How well one curve of one ensemble shows the truth."""

    curve: str
    strength: float
    right: float
    """Share of the measure where the truth is in the band, or near."""
    in_band: float
    near: float
    half_band: float
    """Mean half width of the band, as a share of the range of the truth."""
    true_strength: float


def wave(a: Floats) -> Floats:
    return np.asarray(1.2 * np.sin(a / 5 * np.pi))


def step(b: Floats) -> Floats:
    return np.where(b > 6, 1.0, -1.0)


def product(d: Floats, e: Floats) -> Floats:
    return np.asarray(7.2 * (d / 10 - 0.5) * (e / 10 - 0.5))


SCHEMA = Schema(
    {**{name: Numeric(0, 10) for name in NUMBERS}, "c": Categorical(CATEGORIES)}, ["no", "yes"]
)


def records(seed: int) -> tuple[pd.DataFrame, NDArray[np.str_]]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.random((N_RECORDS, len(NUMBERS))) * 10, columns=NUMBERS)
    codes = rng.integers(0, len(CATEGORIES), N_RECORDS)
    frame["c"] = pd.Categorical.from_codes(codes, CATEGORIES)
    a, b, d, e = (frame[name].to_numpy() for name in "abde")
    log_odds = 0.2 + wave(a) + step(b) + CATEGORY_VALUES[codes] + product(d, e)
    is_yes = rng.random(N_RECORDS) < 1 / (1 + np.exp(-log_odds))
    return frame, np.where(is_yes, "yes", "no")


def measure_one(seed: int, epsilon: float) -> tuple[bool, list[Curve]]:
    """Return whether the four strongest terms are the true ones, and how good the curves are."""
    frame, labels = records(seed)
    learner = PrivaBoostClassifier(epsilon, delta=DELTA, schema=SCHEMA, random_state=seed)
    terms = learner.fit(frame, labels).terms()
    found = {" ".join(sorted(term.names)): term for term in terms}
    strongest = [" ".join(sorted(term.names)) for term in terms[: len(CURVES)]]
    curves = [compare(name, found.get(name)) for name in CURVES]
    noise = [term for term in terms if NOISE & set(term.names)]
    inside = mean(1 - term.beyond_chance for term in noise) if noise else 1.0
    largest = max((term.strength for term in noise), default=0.0)
    curves.append(Curve("noise", largest, inside, inside, 0.0, 0.0, 0.0))
    return set(strongest) == set(CURVES), curves


def compare(name: str, term: Any) -> Curve:
    """Compare a term with the truth on a fine grid. A term that is not there is 0 everywhere."""
    if term is None:
        return Curve(name, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    cells, shares = zip(*map(grid_of, term.axes), strict=True)
    places = np.ix_(*cells)
    share = shares[0] if len(shares) == 1 else np.multiply.outer(*shares)
    true = truth(name)
    extent = np.ptp(true)
    expected = centred(true, shares)
    error = np.abs(term.values[places] - expected)
    is_near = error <= NEAR * extent
    is_in_band = error <= term.band[places]
    shown = (float((share * what).sum()) for what in (is_near | is_in_band, is_in_band, is_near))
    half_band = float((share * term.band[places]).sum() / extent)
    true_strength = float((share * np.abs(expected)).sum())
    return Curve(name, term.strength, *shown, half_band, true_strength)


def grid_of(axis: Any) -> tuple[NDArray[np.int64], Floats]:
    """Return the cell of each place of the grid of a feature, and its share of the measure."""
    if axis.cuts is None:
        return axis.cell_of_code, axis.measure
    cells = np.searchsorted(axis.cuts, GRID)
    return cells, axis.measure[cells] / np.bincount(cells)[cells]


def truth(name: str) -> Floats:
    if name == "d e":
        return product(*np.meshgrid(GRID, GRID, indexing="ij"))
    return {"a": wave(GRID), "b": step(GRID), "c": CATEGORY_VALUES}[name]


def centred(values: Floats, shares: Iterable[Floats]) -> Floats:
    """Return values with a mean of 0 along every axis."""
    for axis, share in enumerate(shares):
        means = np.expand_dims(np.tensordot(values, share, ([axis], [0])), axis)
        values = values - means / share.sum()
    return values


def figures_of(outcomes: list[tuple[bool, list[Curve]]]) -> Iterator[dict[str, Any]]:
    n_found = sum(found for found, _ in outcomes)
    for place, curve in enumerate([*CURVES, "noise"]):
        mine = [curves[place] for _, curves in outcomes]
        yield {
            "curve": curve,
            "what": CURVES.get(curve, "noise"),
            "seeds": len(mine),
            "seeds_with_the_four_strongest": n_found,
            "strength": mean(one.strength for one in mine),
            "true_strength": mean(one.true_strength for one in mine),
            "right": mean(one.right for one in mine),
            "right_worst": min(one.right for one in mine),
            "enough": sum(one.right >= ENOUGH for one in mine),
            "in_band": mean(one.in_band for one in mine),
            "near": mean(one.near for one in mine),
            "half_band": mean(one.half_band for one in mine),
        }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--jobs", type=int, default=2)
    add_json_option(parser)
    arguments = parser.parse_args()
    seeds = range(arguments.seeds)
    with ProcessPoolExecutor(arguments.jobs, get_context("spawn")) as pool:
        outcomes = list(pool.map(measure_one, seeds, repeat(arguments.epsilon)))
    figures = list(figures_of(outcomes))
    columns = ("right", "worst", f"at least {ENOUGH:.0%}", "in band", "near", "half band")
    header("curve", "strength", "true strength", *columns)
    for row in figures:
        keys = (
            "strength",
            "true_strength",
            "right",
            "right_worst",
            "enough",
            "in_band",
            "near",
            "half_band",
        )
        show(row["curve"], *(f"{row[key]:.3g}" for key in keys))
    n_found = figures[0]["seeds_with_the_four_strongest"]
    print(f"\nThe true terms are the strongest of {n_found} ensembles of {len(outcomes)}.")
    write_result(arguments.json, figures, "records and learner of run s with seed s, from 0 to 99")


if __name__ == "__main__":
    main()
