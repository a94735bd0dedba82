"""Records of all kinds of columns, with missing and unknown values, and something to learn."""

from dataclasses import replace

import numpy as np
import pandas as pd

from privatree import Categorical, Numeric, Schema, Target

CLASSES = {2: ["no", "yes"], 3: ["low", "middle", "high"]}


def schema_of(n_classes, *, separate=False):
    """The schema; with `separate`, missing values of every feature have a place of their own."""
    schema = Schema(
        {
            "size": Numeric(0, 40, integer=True),
            "share": Numeric(-1, 1),
            "colour": Categorical(["red", "green", "blue", "grey"]),
            "new": Categorical([False, True]),
            "constant": Numeric(3, 3),
        },
        CLASSES[n_classes],
    )
    if not separate:
        return schema
    features = {name: replace(f, missing="separate") for name, f in schema.features.items()}
    return replace(schema, features=features)


def number_schema(**more):
    """The schema with a target in the place of classes; `more` goes to the target."""
    target = Target(0, 60, **more)
    return replace(schema_of(2), classes=(), target=target).with_target("target")


def some_numbers(n, seed):
    """The same rows; the targets lie outside the range, too, and some are missing or infinite."""
    frame, _ = some_records(n, 2, seed)
    rng = np.random.default_rng([seed, 1])
    targets = frame["size"].fillna(20) + 20 * frame["share"] * (frame["colour"] == "red")
    targets = targets + rng.normal(0, 3, n)
    targets[rng.random(n) < 0.05] = np.nan
    targets[rng.random(n) < 0.02] = np.inf
    return frame, targets.round(2)


def some_records(n, n_classes, seed):
    """Rows with missing and unknown values and labels, and something to learn."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.1, np.nan, rng.integers(-3, 45, n)),
            "share": rng.normal(0, 0.7, n),
            "colour": rng.choice(["red", "green", "blue", "grey", "mauve", None], n),
            "new": rng.random(n) < 0.4,
            "constant": 3.0,
        }
    )
    score = frame["size"].fillna(20) / 40 + frame["share"] + (frame["colour"] == "red")
    place = np.digitize(score + rng.normal(0, 0.2, n), np.linspace(0, 1.5, n_classes - 1))
    labels = pd.Series(np.array([*CLASSES[n_classes], "?"], dtype=object)[place])
    labels[rng.random(n) < 0.05] = "?"
    return frame, labels
