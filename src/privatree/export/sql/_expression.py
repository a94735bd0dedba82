"""A tree or an ensemble as SQL: an expression, a list of columns or a query."""

from __future__ import annotations

from typing import Any

from privatree.errors import ParameterError
from privatree.export.sql._dialects import find_dialect
from privatree.export.sql._ensemble_expression import EnsembleExpression
from privatree.export.sql._names import (
    check_sql_column_names,
    quote_sql_table_name,
    sql_probability_names,
)
from privatree.export.sql._tree_expression import TreeExpression
from privatree.model import Tree, released_predictor


def export_sql(
    model: Any, *, table: str | None = None, proba: bool = False, dialect: str | None = None
) -> str:
    """Write a tree or an ensemble as SQL.

    Parameters
    ----------
    model : Tree, Ensemble, model or fitted learner
        Model whose tree or ensemble is written.
    table : str, optional
        Name of the table with the records. With a table, the result is a whole query. Separate the
        parts of a name by dots: ``clinic.patients``. Put a part that contains a dot in double
        quotes, and double the quotes inside it: ``clinic."patients.2024"``.
    proba : bool, default=False
        Whether to add the probability of each class. If a tree has released no probabilities, they
        are 1 for the predicted class and 0 for the others. A model that predicts a number has none.
    dialect : str, optional
        Name of the database: ``"postgresql"``, ``"mysql"``, ``"mariadb"``, ``"sqlite"``,
        ``"duckdb"``, ``"sqlserver"``, ``"bigquery"`` or ``"snowflake"``. By default the result is
        SQL that SQLite, DuckDB and PostgreSQL all read.

    Returns
    -------
    str
        Without `table` and `proba`: an expression for the predicted label or number, for use in any
        query on the columns of the schema. With `proba`: a list of columns for ``SELECT``, with the
        names ``prediction`` and ``probability of LABEL``. With `table`: a query that returns these
        columns and all columns of the table.

    Raises
    ------
    ParameterError
        If a name, category or label cannot be written in SQL, because it is empty, contains the
        character NUL or is a number beyond 64 bits; if the database cannot tell two of them apart;
        or if the SQL would be very long.

    Notes
    -----
    Each record gets the label or number that ``predict`` returns, also with NULL, NaN, infinities,
    unknown categories and numbers out of range. Numbers are exact to the last bit: ``x > 37`` is
    written as ``-x < -37`` where NaN is greater than every number, and 0.1 as a fraction where a
    database could round it. Columns must have the types that ``predict`` takes: numbers (or
    booleans) for numeric features and number categories, text for text categories, and booleans or
    the numbers 0 and 1 for boolean categories. PostgreSQL, BigQuery and Snowflake do not take
    booleans for numbers. Boolean labels are 1 and 0 in databases without booleans.

    The rounds of an ensemble are added up in whole numbers, so its labels are equal to those of
    ``predict``, too. Its probabilities are computed by the database, and may differ from those of
    ``predict_proba`` in the last digits.

    With a `dialect`, text comparison is case-sensitive, whatever the collation of the column; in
    BigQuery and Snowflake the column must not have a collation. SQL Server always ignores blanks at
    the end. Without a dialect, the collation of the column applies.

    SQLite reads the quoted name of a column that does not exist as text. Pass `table` to get an
    error instead.

    Examples
    --------
    >>> from privatree import PrivaTreeClassifier, datasets
    >>> X, y, schema = datasets.load("breast-w")
    >>> model = PrivaTreeClassifier(epsilon=1, max_depth=1, schema=schema, random_state=0)
    >>> print(export_sql(model.fit(X, y), dialect="mysql"))
    CASE
      WHEN CAST(`Cell_Shape_Uniformity` AS DOUBLE) > 3.5e0 THEN 'malignant'
      ELSE 'benign'
    END
    """
    written = find_dialect(dialect)
    released = released_predictor(model)
    if proba and released.schema.target is not None:
        raise ParameterError(
            "proba must be False for a model that predicts a number, got True.", "proba"
        )
    check_sql_column_names(released.schema.names, written)
    place, source = (None, None) if table is None else quote_sql_table_name(table, written)
    expression: TreeExpression | EnsembleExpression
    if isinstance(released, Tree):
        expression = TreeExpression(released, source, written)
    else:
        expression = EnsembleExpression(released, source, written, proba=proba)
    prediction = expression.prediction()
    if source is None and not proba:
        return prediction
    columns = [f"{prediction} AS {written.quote_name('prediction')}"]
    if proba:
        names = sql_probability_names(released.schema.classes, written)
        figures = zip(expression.probabilities(), names, strict=True)
        columns += [f"{figure} AS {name}" for figure, name in figures]
    listed = ",\n".join(columns)
    return listed if source is None else f"SELECT {source}.*,\n{listed}\nFROM {place}"
