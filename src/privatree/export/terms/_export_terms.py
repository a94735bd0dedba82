"""All terms of an ensemble as CSV or JSON."""

from __future__ import annotations

from typing import Any, Literal

from privatree._support.validation import check_one_of
from privatree.export.terms._reading import terms_of
from privatree.export.terms._terms_csv import terms_csv
from privatree.export.terms._terms_json import terms_json


def export_terms(
    model: Any, form: Literal["csv", "json"] = "csv", *, max_pairs: int | None = None
) -> str:
    """Write the terms of an ensemble as CSV or JSON.

    Parameters
    ----------
    model : EnsembleModel, fitted classifier, Ensemble or Terms
        Model whose terms are written, or its terms.
    form : {"csv", "json"}, default="csv"
        CSV has a row for each cell of each term; a cell of joined categories has a row for each of
        them. JSON has the cut points, values and bands of a term as lists.
    max_pairs : int, optional
        Largest number of terms of several features. By default, all terms are written.

    Returns
    -------
    str
        The text of the file, which ends with a line break. ``docs/formats.md`` describes both.

    Raises
    ------
    ParameterError
        If a parameter is out of its range, or the CSV would have more than a million rows.

    Notes
    -----
    Numbers are written with all their digits. The score of a record is the intercept plus the
    values of the cells that it is in. With more than two classes, there is also the effect: the
    value without what all classes have in common. The band belongs to it.

    Names and categories are written as they are. A spreadsheet takes text that begins with ``=``
    for a formula: import such columns as text.

    Examples
    --------
    >>> from privatree import PrivaBoostClassifier, datasets
    >>> frame, labels, schema = datasets.load("vote")
    >>> model = PrivaBoostClassifier(1.0, schema=schema, random_state=0).fit(frame, labels)
    >>> header, intercept, *cells = export_terms(model).splitlines()
    >>> header
    'term,feature 1,from 1,to 1,category 1,missing 1,measure,value of republican,band of republican'
    >>> [cell.split(",")[4] for cell in cells]
    ['n', 'y']
    """
    check_one_of("form", form, ("csv", "json"))
    terms = terms_of(model, max_pairs)
    return terms_csv(terms) if form == "csv" else terms_json(terms)
