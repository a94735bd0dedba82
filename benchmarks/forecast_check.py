"""How far a forecast of what privacy costs is from what it then costs.

    python benchmarks/forecast_check.py [--data-dir DIR] [--tables adult,pol,california:0.75]
        [--records 2000,8000] [--epsilon 0.05,0.5,1] [--model tree|boost] [--subsets 10]
        [--json figures.json]
    python benchmarks/forecast_check.py --equivalence --data-dir DIR --tables covertype [...]

A table plays the records of a user: subset s is drawn with seed s, and each learner is trained on
it with random_state s and 1000 + s, and tested on at most 20,000 other records. "california:0.75"
is the table with records of one class left out at random, so that 75% have the same class. The
forecast knows only what the user tells: the number of records, and with "share" also the share of
the most frequent class, rounded to 5%. All forecasts have seed 0.

With adult, the subsets are drawn from one half of the records, and the forecast has only the other
half ("with adult") or nothing of adult ("without adult"). The other tables are not bundled, so no
forecast has seen them; constants of ``privatree.forecast`` were chosen with them, not with adult.

Printed: what privacy cost, with its standard error over subsets, the forecast, and whether the cost
is in the forecast's range. ``--equivalence`` shows instead what privacy costs at the same records x
epsilon with fewer records: the rows should agree.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pandas as pd

from accuracy import header, schema_of, show
from accuracy import load as load_table
from privatree import Schema, datasets
from privatree.forecast import Forecast, Setting, forecast
from privatree.forecast._trainings import compare_on_records
from result_files import add_json_option, write_result

OTHERS = ("MagicTelescope", "pol", "bank-marketing", "california",
          "default-of-credit-card-clients", "covertype")  # fmt: skip
TELLING = ("records", "share")
"""What the user tells: the number of records, or the share of the most frequent class, too."""
EQUIVALENT = (5000, 20_000, 100_000)
PRODUCTS = (1000, 5000, 20_000)
"""Records x epsilon."""
MAX_TESTED = 20_000
HALVES_SEED = 12345


class Table(NamedTuple):
    """The records of a user, and what is public about them."""

    frame: pd.DataFrame
    labels: pd.Series
    schema: Schema


class Loss(NamedTuple):
    """What privacy cost on one subset."""

    accuracy: float
    auc: float


# --- what happens to a user ---------------------------------------------------------------------


@cache
def user_table(name: str, data_dir: str | None) -> Table:
    """Return the half of adult that is held back, or another table, with a share if it has one."""
    plain, _, share = name.partition(":")
    if plain == "adult":
        dataset = datasets.load("adult")
        rows = held_back(len(dataset.frame))
        table = Table(dataset.frame.iloc[rows], dataset.labels.iloc[rows], dataset.schema)
    else:
        frame, labels = load_table(plain, data_dir)
        table = Table(frame, labels, schema_of(frame, labels, 0))
    return with_share(table, float(share)) if share else table


def held_back(n_records: int) -> np.ndarray:
    """Return the rows that the forecast must not see."""
    return np.random.default_rng(HALVES_SEED).permutation(n_records)[: n_records // 2]


def with_share(table: Table, share: float) -> Table:
    """Leave out records of one class at random, so that the other one has this share."""
    rng = np.random.default_rng(0)
    frequent = (table.labels == table.labels.mode()[0]).to_numpy()
    many, few = (rng.permutation(np.flatnonzero(side)) for side in (frequent, ~frequent))
    few = few[: int(len(many) * (1 - share) / share)]
    rows = np.concatenate([many, few])
    return Table(table.frame.iloc[rows], table.labels.iloc[rows], table.schema)


def losses(table: Table, setting: Setting, subset: int) -> list[Loss]:
    """Return what privacy costs on a subset at each epsilon, as means over two seeds."""
    order = np.random.default_rng(subset).permutation(len(table.frame))
    rows = order[: setting.records], order[setting.records :][:MAX_TESTED]
    train, test = ((table.frame.iloc[part], table.labels.iloc[part]) for part in rows)
    repeats = [
        compare_on_records(train, test, table.schema, setting, seed)
        for seed in (subset, 1000 + subset)
    ]
    return [
        Loss(
            mean(repeat.plain.accuracy - repeat.private[place].accuracy for repeat in repeats),
            mean(repeat.plain.auc - repeat.private[place].auc for repeat in repeats),
        )
        for place in range(len(setting.epsilons))
    ]


# --- the forecast -------------------------------------------------------------------------------


def load_without_held_back(name: str) -> datasets.Dataset:
    dataset = original_load(name)
    if name != "adult":
        return dataset
    seen = np.ones(len(dataset.frame), dtype=bool)
    seen[held_back(len(seen))] = False
    return datasets.Dataset(dataset.frame[seen], dataset.labels[seen], dataset.schema)


original_load = datasets.load


@cache
def forecast_for(setting: Setting) -> Forecast:
    with patch.object(datasets, "load", load_without_held_back):
        return forecast(
            setting.records,
            setting.epsilons,
            majority_share=setting.majority_share,
            model=setting.model,
            cache=False,
        )


def told(table: Table, telling: str) -> dict[str, Any]:
    """Return what the user tells, as parameters of the forecast."""
    if telling == "records":
        return {}
    share = table.labels.value_counts(normalize=True).iloc[0]
    return {"majority_share": round(20 * share) / 20}


# --- comparisons --------------------------------------------------------------------------------


def compare(name: str, records: int, arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield a figure for each epsilon, what the user tells, and with or without adult."""
    table = user_table(name, arguments.data_dir)
    plain = Setting(records, arguments.epsilon, model=arguments.model)
    happened = [losses(table, plain, subset) for subset in range(arguments.subsets)]
    for telling in TELLING:
        whole = forecast_for(replace(plain, **told(table, telling)))
        for without in ["adult", ""] if name.startswith("adult") else [""]:
            kept = tuple(scores for scores in whole.tables if scores.table != without)
            made = replace(whole, tables=kept)
            for place, expected in enumerate(made.expected):
                for score in Loss._fields:
                    lost = [getattr(of_subset[place], score) for of_subset in happened]
                    loss = getattr(expected, score)
                    yield {
                        "table": name,
                        "model": arguments.model,
                        "records": records,
                        "epsilon": expected.epsilon,
                        "told": telling,
                        "without": without,
                        "score": score,
                        "subsets": len(lost),
                        "lost": mean(lost),
                        "standard_error": stdev(lost) / math.sqrt(len(lost)),
                        "forecast": loss.mean,
                        "forecast_standard_error": loss.standard_error,
                        "lowest": loss.lowest,
                        "highest": loss.highest,
                    }


def main() -> None:
    arguments = parse()
    figures = []
    if arguments.equivalence:
        header("table", "records", "records x epsilon", "score", "lost", "standard error")
        for name in arguments.tables:
            figures += list(equivalence(name, arguments))
    else:
        header("table", "records", "epsilon", "told", "without", "score", "lost", "standard error",
               "forecast", "in range")  # fmt: skip
        for name in arguments.tables:
            for records in arguments.records:
                if records <= 0.8 * len(user_table(name, arguments.data_dir).frame):
                    for figure in compare(name, records, arguments):
                        show_figure(figure)
                        figures.append(figure)
        show_errors(figures)
    write_result(
        arguments.json, figures, "subset s: seed s, random_state s and 1000 + s; forecast: 0"
    )


def equivalence(name: str, arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield what privacy costs at the same records x epsilon, for several numbers of records."""
    table = user_table(name, arguments.data_dir)
    for records in EQUIVALENT:
        setting = Setting(records, tuple(p / records for p in PRODUCTS), model=arguments.model)
        found = [losses(table, setting, subset) for subset in range(arguments.subsets)]
        for score in Loss._fields:
            for place, product in enumerate(PRODUCTS):
                lost = [getattr(of_subset[place], score) for of_subset in found]
                error = stdev(lost) / math.sqrt(len(lost))
                show(name, records, product, score, mean(lost), error)
                yield {
                    "table": name,
                    "model": arguments.model,
                    "records": records,
                    "product": product,
                    "score": score,
                    "subsets": len(lost),
                    "lost": mean(lost),
                    "standard_error": error,
                }


def is_in_range(loss: dict[str, float]) -> bool:
    return loss["lowest"] <= loss["lost"] <= loss["highest"]


def show_figure(figure: dict[str, Any]) -> None:
    names = ("table", "records", "told", "without", "score", "lost", "standard_error", "forecast")
    cells = [figure[name] for name in names]
    show(*cells[:2], f"{figure['epsilon']:g}", *cells[2:], "yes" if is_in_range(figure) else "NO")


def show_errors(figures: Sequence[dict[str, Any]]) -> None:
    """Print the mean and largest error of the forecasts, and how often the range holds the cost."""
    print()
    header("told", "epsilon", "score", "forecasts", "mean error", "largest error", "in range")
    keys = ("told", "epsilon", "score")
    for group in dict.fromkeys(tuple(each[key] for key in keys) for each in figures):
        found = [each for each in figures if tuple(each[key] for key in keys) == group]
        errors = [abs(each["lost"] - each["forecast"]) for each in found]
        inside = mean(is_in_range(each) for each in found)
        show(group[0], f"{group[1]:g}", group[2], len(found), mean(errors), max(errors),
             f"{inside:.0%}")  # fmt: skip


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data-dir")
    parser.add_argument("--tables", type=lambda given: given.split(","))
    parser.add_argument("--records", type=numbers(int), default=(2000, 8000))
    parser.add_argument("--epsilon", type=numbers(float), default=(0.05, 0.5, 1.0))
    parser.add_argument("--model", choices=["tree", "boost"], default="tree")
    parser.add_argument("--subsets", type=int, default=10)
    parser.add_argument("--equivalence", action="store_true")
    add_json_option(parser)
    arguments = parser.parse_args()
    if arguments.tables is None:
        others = [f"{name}{share}" for name in OTHERS for share in ("", ":0.75")]
        arguments.tables = ["adult", *(others if arguments.data_dir else [])]
    if arguments.data_dir is not None and not Path(arguments.data_dir).is_dir():
        parser.error(f"--data-dir must be a folder, got {arguments.data_dir}.")
    return arguments


def numbers(kind: type) -> Any:
    return lambda given: tuple(map(kind, given.split(",")))


if __name__ == "__main__":
    main()
