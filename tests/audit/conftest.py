"""Tables at which the learner's loss is sharp.

A table with *piles* has many records of few kinds: what is drawn from it is nearly certain, so one
record of another class changes a logarithm by nearly all that it can.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from privatree.audit import Universe

PILE = 160


@pytest.fixture(scope="session")
def piles() -> Callable[[Universe], tuple[int, ...]]:
    """The table at which every stage is sharp, in universes that begin with (3, 2) or with "3".

    Numbers: class 1 at (2, 0), class 0 at (1, 0). Nearly all splits that are probable have (1, 0)
    on the side of class 0, and nearly all subtrees label it 0: one more record of class 1 there is
    where it should not be at every stage, yet there are splits that would have it otherwise.
    Categories, which are drawn one by one: class 0 at 0.
    """

    def make(universe: Universe) -> tuple[int, ...]:
        if universe.candidates.is_category[0]:
            return universe.table({universe.kinds[0]: PILE})
        return universe.table({((2, 0), 1): PILE, ((1, 0), 0): PILE})

    return make
