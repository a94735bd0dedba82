"""A small table of people, with its schema, on which classifiers are tested."""

import numpy as np
import pandas as pd

from privatree import Categorical, Numeric, Schema

SCHEMA = Schema(
    {
        "age": Numeric(0, 100, integer=True),
        "income": Numeric(-1000.0, 1000.0),
        "job": Categorical(["nurse", "clerk", "cook"]),
    },
    ["no", "yes"],
)


def table(n=600, seed=0):
    """Records and labels, which follow from age and job."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 101, n),
            "income": rng.normal(0, 300, n),
            "job": rng.choice(["nurse", "clerk", "cook"], n),
        }
    )
    labels = np.where(frame["age"] + 30 * (frame["job"] == "cook") > 60, "yes", "no")
    return frame, labels
