"""What follows the name of a feature, for each cell of a term."""

import numpy as np

from privatree.export import cell_texts
from privatree.model.terms import Axis
from privatree.schema import Categorical, Numeric


def axis(feature, cuts=None, cells=None):
    n = len(cuts) + 1 if cuts is not None else max(cells) + 1
    places = np.array(range(n) if cells is None else cells)
    found = None if cuts is None else np.array(cuts, dtype=float)
    return Axis("x", feature, np.full(n, 1 / n), found, places)


def test_numbers() -> None:
    feature = Numeric(0, 100, integer=True)
    assert cell_texts(axis(feature, [25, 40])) == ["at most 25", "above 25, at most 40", "above 40"]
    assert cell_texts(axis(feature, [])) == ["any number"]


def test_missing_numbers() -> None:
    feature = Numeric(0, 100, missing="separate", integer=True)
    assert cell_texts(axis(feature, [25])) == ["missing or at most 25", "above 25"]
    assert cell_texts(axis(feature, [-np.inf, 25])) == ["missing", "at most 25", "above 25"]
    assert cell_texts(axis(feature, [-np.inf])) == ["missing", "any number"]


def test_categories() -> None:
    feature = Categorical(["a", "b", "c", "d", "missing"], missing="separate")
    texts = cell_texts(axis(feature, cells=[0, 0, 0, 0, 1, 2]))
    assert texts == ["a, b, c or 1 more", '"missing"', "missing"]
    assert cell_texts(axis(feature, cells=[0, 0, 1, 1, 1, 1]), 2) == ["a or b", "c, d or 2 more"]
