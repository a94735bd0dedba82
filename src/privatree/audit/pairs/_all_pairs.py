"""All pairs of datasets and of files, by name."""

from __future__ import annotations

from collections.abc import Sequence

from privatree._support.suggestions import did_you_mean
from privatree.audit.pairs._file_neighbours import file_pairs
from privatree.audit.pairs._file_readers import Reader, read_table
from privatree.audit.pairs._neighbours import Neighbours, table_pairs
from privatree.audit.pairs._number_neighbours import number_pairs
from privatree.audit.pairs._unit_neighbours import unit_pairs
from privatree.errors import ParameterError


def known_pairs(
    epsilon: float = 1.0, *, read: Reader = read_table, numbers: bool = False
) -> dict[str, Neighbours]:
    """Return all pairs, by name. Each reveals one mistake that learners make or could make.

    Parameters
    ----------
    epsilon : float, default=1.0
        Claimed epsilon. The size of the pair "size-threshold" depends on it.
    read : callable
        Reader of the pairs that are files, as in :func:`~privatree.audit.file_pairs`.
    numbers : bool, default=False
        Whether to return the pairs whose target is a number, for regressors, instead.

    Examples
    --------
    >>> pairs = known_pairs()
    >>> pairs["new-class"].after
    'classes taken from the records'
    """
    if numbers:
        return number_pairs()
    return {**table_pairs(epsilon), **unit_pairs(), **file_pairs(read)}


def chosen_pairs(
    names: Sequence[str] | None,
    epsilon: float = 1.0,
    *,
    read: Reader = read_table,
    numbers: bool = False,
) -> list[Neighbours]:
    """Return the pairs with these names, for classes or for numbers; an unknown one is an error.

    Without names, return all pairs for classes or, with `numbers`, all for numbers.
    """
    if not names:
        return list(known_pairs(epsilon, read=read, numbers=numbers).values())
    pairs = {**known_pairs(epsilon, read=read), **known_pairs(numbers=True)}
    unknown = [name for name in names if name not in pairs]
    if unknown:
        raise ParameterError(
            f"pairs must be among {', '.join(pairs)}, got {unknown[0]!r}."
            f"{did_you_mean(unknown[0], tuple(pairs))}",
            "pairs",
        )
    return [pairs[name] for name in dict.fromkeys(names)]
