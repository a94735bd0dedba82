"""All pairs, of tables and of files, by name."""

from __future__ import annotations

from collections.abc import Sequence

from privatree._support.suggestions import did_you_mean
from privatree.audit.pairs._file_neighbours import file_pairs
from privatree.audit.pairs._file_readers import Reader, read_table
from privatree.audit.pairs._neighbours import Neighbours, table_pairs
from privatree.errors import ParameterError


def known_pairs(epsilon: float = 1.0, *, read: Reader = read_table) -> dict[str, Neighbours]:
    """Every pair, by name: each is after a mistake that a published or a plausible learner makes.

    Parameters
    ----------
    epsilon : float, default=1.0
        What the learner claims; the size of one pair follows from it.
    read : callable
        What reads the pairs that are files, as in
        :func:`~privatree.audit.pairs._file_neighbours.file_pairs`.
    """
    return {**table_pairs(epsilon), **file_pairs(read)}


def chosen_pairs(
    names: Sequence[str] | None, epsilon: float = 1.0, *, read: Reader = read_table
) -> list[Neighbours]:
    """Some of the pairs, by name; None is all."""
    pairs = known_pairs(epsilon, read=read)
    unknown = [name for name in names or () if name not in pairs]
    if unknown:
        raise ParameterError(
            f"pairs must be among {', '.join(pairs)}, got {unknown[0]!r}."
            f"{did_you_mean(unknown[0], tuple(pairs))}",
            "pairs",
        )
    return [pairs[name] for name in dict.fromkeys(names)] if names else list(pairs.values())
