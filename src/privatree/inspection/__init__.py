"""Not private, for the owner of the records: infer, draft and check a schema.

::

    _infer.py           a schema from records
    _draft.py           a draft of a schema file, with remarks
    _profile.py         facts about columns, for the draft
    _label_rules.py     columns that tell the label alone
    _csv_detection.py   the dialect of a CSV file
    _check.py           values that violate a schema
    _column_check.py    the same in one column
    _check_result.py    the result and its text
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
