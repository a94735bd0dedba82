"""What privacy for whole persons costs, with several records a person.

    python benchmarks/persons.py [--epsilon 0.1,0.5,2] [--seeds 20] [--json figures.json]

A made-up panel of 20,000 persons with 1 to 20 hospital visits (geometric, mean 4). The label of a
visit is whether the person comes back within 30 days. Everything is private for whole persons, at
the same epsilon:

- units: each person weighs as much as one record (``units=``);
- divided: every record is protected with epsilon/20, since a person has up to 20 records;
- cut: at most 4 records of each person are kept, each protected with epsilon/4;
- not private: scikit-learn's tree of the same depth.

Printed: accuracy for the visits of 20,000 other persons, once with all visits alike and once with
all persons alike, and by how much units are ahead for persons, as means with standard errors. Seed
s makes the panel, the cut and the noise.
"""

from __future__ import annotations

import argparse
import math
from statistics import mean, stdev
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

from privatree import Categorical, Numeric, PrivaTreeClassifier, Schema
from result_files import add_json_option, write_result

N_PERSONS, MAX_VISITS, MEAN_VISITS, KEPT = 20_000, 20, 4, 4
DEPTH = 4
METHODS = ("units", "cut", "divided", "not private")
SCHEMA = Schema(
    {
        "age": Numeric(0, 110, integer=True),
        "bmi": Numeric(10, 70),
        "smoker": Categorical(["no", "yes"]),
        "chronic_conditions": Numeric(0, 12, integer=True),
        "ward": Categorical(["surgery", "cardiology", "oncology", "general"]),
        "days_in_hospital": Numeric(0, 60, integer=True),
        "haemoglobin": Numeric(3, 22),
        "discharged_home": Categorical(["no", "yes"]),
    },
    classes=["no", "yes"],
)


class Panel(NamedTuple):
    """Visits, their labels, and the person of each."""

    visits: pd.DataFrame
    labels: np.ndarray[Any, Any]
    persons: np.ndarray[Any, Any]


def make_panel(seed: int, n_persons: int = N_PERSONS) -> Panel:
    """Make up a panel: persons differ, and so do the visits of a person."""
    rng = np.random.default_rng(seed)
    n_visits = np.minimum(rng.geometric(1 / MEAN_VISITS, n_persons), MAX_VISITS)
    persons = np.repeat(np.arange(n_persons), n_visits)
    n = len(persons)
    age = np.clip(rng.normal(60, 18, n_persons), 18, 100)
    chronic = rng.poisson(np.exp((age - 75) / 30) * 1.5)
    frailty = rng.normal(0, 0.6, n_persons)  # nobody has measured it
    smoker = rng.random(n_persons) < 0.25
    bmi = np.clip(rng.normal(27, 5, n_persons), 15, 60)
    ward = rng.choice(4, n, p=[0.3, 0.2, 0.15, 0.35])
    days = np.clip(rng.geometric(0.18, n) + 2 * (ward == 2), 1, 60)
    haemoglobin = np.clip(rng.normal(13 - 0.25 * chronic[persons], 1.8), 5, 19)
    home = rng.random(n) < 0.75
    risk = (
        -1.1
        + 0.9 * (chronic[persons] >= 3)
        + 0.7 * (age[persons] > 70)
        + 1.2 * (haemoglobin < 10.5)
        + 0.9 * (ward == 2)
        + 0.6 * (days > 8)
        - 0.8 * home
        + 0.4 * smoker[persons] * (ward == 1)
        + frailty[persons]
    )
    labels = np.where(rng.random(n) < 1 / (1 + np.exp(-2 * risk)), "yes", "no")
    visits = pd.DataFrame(
        {
            "age": age[persons].round().astype(int),
            "bmi": bmi[persons].round(1),
            "smoker": np.where(smoker, "yes", "no")[persons],
            "chronic_conditions": np.minimum(chronic, 12)[persons],
            "ward": np.array(["surgery", "cardiology", "oncology", "general"])[ward],
            "days_in_hospital": days,
            "haemoglobin": haemoglobin.round(1),
            "discharged_home": np.where(home, "yes", "no"),
        }
    )
    return Panel(visits, labels, persons)


def train(method: str, panel: Panel, epsilon: float, seed: int) -> Any:
    """Return a function from visits to labels."""
    visits, labels, persons = panel
    settings: dict[str, Any] = {"schema": SCHEMA, "max_depth": DEPTH, "random_state": seed}
    if method == "units":
        return PrivaTreeClassifier(epsilon, **settings).fit(visits, labels, units=persons).predict
    if method == "divided":
        return PrivaTreeClassifier(epsilon / MAX_VISITS, **settings).fit(visits, labels).predict
    if method == "cut":
        order = np.random.default_rng(seed).permutation(len(persons))
        turn = pd.Series(persons[order]).groupby(persons[order]).cumcount().to_numpy()
        kept = np.sort(order[turn < KEPT])
        tree = PrivaTreeClassifier(epsilon / KEPT, **settings)
        return tree.fit(visits.iloc[kept], labels[kept]).predict
    plain = DecisionTreeClassifier(max_depth=DEPTH, random_state=seed).fit(coded(visits), labels)
    return lambda frame: plain.predict(coded(frame))


def coded(visits: pd.DataFrame) -> pd.DataFrame:
    columns = {name: visits[name] for name in visits}
    for name, feature in SCHEMA.features.items():
        if isinstance(feature, Categorical):
            columns[name] = pd.Categorical(visits[name], feature.categories).codes
    return pd.DataFrame(columns)


def score(method: str, epsilon: float, seed: int) -> tuple[float, float]:
    """Return the accuracy over visits and over persons."""
    predict = train(method, make_panel(seed), epsilon, seed)
    other = make_panel(10_000 + seed)
    is_right = np.asarray(predict(other.visits)) == other.labels
    by_person = np.bincount(other.persons, is_right) / np.bincount(other.persons)
    return float(is_right.mean()), float(by_person.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epsilon", default="0.1,0.5,2")
    parser.add_argument("--seeds", type=int, default=20)
    add_json_option(parser)
    given = parser.parse_args()
    figures = []
    titles = ("visits", "persons", "units are ahead by")
    print(f"{'epsilon':>8}  {'method':12}" + "".join(f"{title:>20}" for title in titles))
    for epsilon in map(float, given.epsilon.split(",")):
        ours: list[float] = []
        for method in METHODS:
            found = [score(method, epsilon, seed) for seed in range(given.seeds)]
            visits, persons = (list(values) for values in zip(*found, strict=True))
            ours = ours or persons
            ahead = [one - other for one, other in zip(ours, persons, strict=True)]
            row: dict[str, Any] = {"epsilon": epsilon, "method": method}
            for name, values in (("visits", visits), ("persons", persons), ("ahead", ahead)):
                row[name] = mean(values)
                row[f"{name}_error"] = stdev(values) / math.sqrt(len(values))
            figures.append(row)
            cells = [
                f"{row[n]:.4f} ± {row[f'{n}_error']:.4f}" for n in ("visits", "persons", "ahead")
            ]
            print(f"{epsilon:8g}  {method:12}" + "".join(f"{c:>20}" for c in cells), flush=True)
    seeds = f"panel, cut and noise: 0 to {given.seeds - 1}; other persons: 10,000 more"
    write_result(given.json, figures, seeds)


if __name__ == "__main__":
    main()
