"""The privacy statement of a trained model.

::

    _statement.py        the statement: guarantee, assumptions and cost
    _statement_json.py   reading and writing its parts as JSON
    _spend_check.py      whether the guarantee covers the spends, for a model that is not a tree
"""
