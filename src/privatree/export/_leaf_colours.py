"""Colours of the leaves of a drawn tree: one for each class, or a scale of one for numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privatree._support.plot_style import (
    BLUE,
    GREY,
    PALE_GREY,
    TEXT_GREY,
    class_colour,
    tint,
)
from privatree.model import Tree

TEXT_COLOUR = "#1A1A1A"
"""Colour of text, dark on light boxes, also if the figure is dark."""
_CLASS_TINT = 0.28
_SMALLEST_TINT, _LARGEST_TINT = 0.06, 0.5


class LeafColours(NamedTuple):
    """Colours of the box of a leaf."""

    face: str
    edge: str
    text: str


def leaf_colours(tree: Tree, leaf: int) -> LeafColours:
    """Return the colours of a leaf: grey if it has few or no records.

    A leaf has the colour of its class. A leaf with a number is the darker, the larger the number.
    """
    if not tree.has_support(leaf):
        return LeafColours(PALE_GREY, GREY, TEXT_GREY)
    if tree.value is None:
        colour = class_colour(tree.label[leaf])
        return LeafColours(tint(colour, _CLASS_TINT), colour, TEXT_COLOUR)
    place = float(value_places(tree)[leaf])
    strength = _SMALLEST_TINT + (_LARGEST_TINT - _SMALLEST_TINT) * place
    return LeafColours(tint(BLUE, strength), BLUE, TEXT_COLOUR)


def value_places(tree: Tree) -> NDArray[np.float64]:
    """Return where the number of each leaf is between the smallest of all, 0, and the largest, 1.

    Of a target that is learned as a logarithm, logarithms are compared. If all numbers are equal,
    all places are 0.5. Inside the tree, and in a tree that predicts a class, they are NaN.
    """
    places = np.full(tree.n_nodes, np.nan)
    if tree.value is None or tree.schema.target is None:
        return places
    values = tree.value[tree.leaves]
    values = np.log1p(values) if tree.schema.target.log else values / 2  # differences are finite
    width = values.max() - values.min()
    places[tree.leaves] = (values - values.min()) / width if width > 0 else 0.5
    return places
