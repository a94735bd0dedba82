"""A tree as one SQL expression, in the dialect of a database.

::

    _expression.py        the expression of a whole tree
    _conditions.py        the condition of one node
    _names.py             names of columns, tables and results
    _double_literals.py   doubles, written so that no database rounds them
    _dialects.py          how each database writes names, texts, numbers and booleans
"""
