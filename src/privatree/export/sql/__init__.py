"""A tree as one SQL expression, in the dialect of a database.

::

    _expression.py   the expression
    _conditions.py   the test of one node
    _names.py        names of columns
    _numbers.py      doubles, written exactly
    _dialect.py      what can differ between databases
    _dialects.py     how it does
"""
