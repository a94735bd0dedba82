"""A tree or an ensemble as one SQL expression, in the dialect of a database.

::

    _expression.py            ``export_sql``: an expression, a list of columns or a query
    _tree_expression.py       the expressions of a tree
    _ensemble_expression.py   the expressions of an ensemble
    _function_sums.py         functions of many rounds, added up by feature
    _conditions.py            the condition of one node
    _results.py               labels as literals, and CASE
    _names.py                 names of columns, tables and results
    _double_literals.py       doubles, written so that no database rounds them
    _dialects.py              how each database writes names, texts, numbers and booleans
"""
