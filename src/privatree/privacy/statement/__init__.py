"""The privacy statement of a trained model.

::

    _statement.py        the statement: guarantee, assumptions and cost
    _statement_json.py   reading and writing its parts as JSON
    _holdout.py          what it says of a held-out part
    _spend_check.py      whether the guarantee covers the spends, for a model that is not a tree
"""
