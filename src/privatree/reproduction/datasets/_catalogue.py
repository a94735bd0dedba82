"""The paper's 29 datasets ([Vos23], "Dataset properties"), in its order."""

from __future__ import annotations

from typing import cast, get_args

from privatree._support.suggestions import did_you_mean
from privatree.errors import ParameterError
from privatree.reproduction.datasets._dataset import PaperDataset, Suite

_SUITES = get_args(Suite)

# name, suite, OpenML's id, records, features, categorical features, share of the majority
_TABLE = """
Bioresponse                          numerical 45019   3434 419  0 0.500
Diabetes130US                        numerical 45022  71090   7  0 0.500
Higgs                                numerical 44129 940160  24  0 0.500
MagicTelescope                       numerical 44125  13376  10  0 0.500
MiniBooNE                            numerical 44128  72998  50  0 0.500
bank-marketing                       numerical 44126  10578   7  0 0.500
california                           numerical 45028  20634   8  0 0.500
covertype                            numerical 44121 566602  10  0 0.500
credit                               numerical 44089  16714  10  0 0.500
default-of-credit-card-clients       numerical 45020  13272  20  0 0.500
electricity                          numerical 44120  38474   7  0 0.500
eye_movements                        numerical 44130   7608  20  0 0.500
heloc                                numerical 45026  10000  22  0 0.500
house_16H                            numerical 44123  13488  16  0 0.500
jannis                               numerical 45021  57580  54  0 0.500
pol                                  numerical 44122  10082  26  0 0.500
albert                               mixed     45035  58252  31 10 0.500
compas-two-years                     mixed     45039   4966  11  8 0.500
covertype-mixed                      mixed     44159 423680  54 44 0.500
default-of-credit-card-clients-mixed mixed     45036  13272  21  1 0.500
electricity-mixed                    mixed     44156  38474   8  1 0.500
eye_movements-mixed                  mixed     44157   7608  23  3 0.500
road-safety                          mixed     45038 111762  32  3 0.500
adult                                uci        1590  45222  14  8 0.752
breast-w                             uci          15    683   9  0 0.650
diabetes                             uci          37    768   8  0 0.651
mushroom                             uci          24   5644  22 22 0.618
nursery                              uci         959  12960   8  8 0.667
vote                                 uci          56    232  16 16 0.534
"""


def _parse_catalogue_row(row: str) -> PaperDataset:
    name, suite, *counts, share = row.split()
    openml_id, *size = map(int, counts)
    title, suite = name.removesuffix("-mixed"), cast(Suite, suite)
    return PaperDataset(name, title, suite, openml_id, size[0], size[1], size[2], float(share))


_CATALOGUE = {row.split()[0]: _parse_catalogue_row(row) for row in _TABLE.strip().splitlines()}


def names(suite: str | None = None) -> tuple[str, ...]:
    """Return the names of the datasets in the paper's order.

    Parameters
    ----------
    suite : {"numerical", "mixed", "uci", "all"}, optional
        Group of datasets; None and "all" return every group.

    Returns
    -------
    tuple of str
        Numerical datasets first, then mixed, then UCI, in the order of the paper's tables.

    Raises
    ------
    ParameterError
        If there is no such group.

    Examples
    --------
    >>> from privatree.reproduction.datasets import names
    >>> len(names())
    29
    >>> names("uci")
    ('adult', 'breast-w', 'diabetes', 'mushroom', 'nursery', 'vote')
    """
    if suite not in (None, "all", *_SUITES):
        raise ParameterError(f"suite must be one of {', '.join(_SUITES)} or all, got {suite!r}.")
    return tuple(name for name, d in _CATALOGUE.items() if suite in (None, "all", d.suite))


def describe(name: str) -> PaperDataset:
    """Return the row of a dataset in the paper's table of datasets.

    Parameters
    ----------
    name : str
        One of :func:`names`.

    Raises
    ------
    ParameterError
        If there is no such dataset. The message suggests similar names.

    Examples
    --------
    >>> from privatree.reproduction.datasets import describe
    >>> adult = describe("adult")
    >>> adult.n_records, adult.n_features, adult.n_categorical
    (45222, 14, 8)
    """
    if name not in _CATALOGUE:
        known = tuple(_CATALOGUE)
        hint = did_you_mean(name, known) or f" Choose one of {', '.join(known)}."
        raise ParameterError(f"a dataset must be one of those in the paper, got {name!r}.{hint}")
    return _CATALOGUE[name]
