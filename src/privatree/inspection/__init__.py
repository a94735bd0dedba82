"""Infer, draft and check a schema. Not private: this is for the owner of the records only.

::

    _infer.py           infers a schema from records
    _draft.py           writes a draft of a schema file, with comments
    _comments.py        wraps the comments of a draft
    _profile.py         collects facts about columns, for the draft
    _id_names.py        knows names of columns such as patient_id
    _unit_columns.py    finds columns that say who a row is about
    _label_rules.py     finds columns that determine the label
    _csv_detection.py   detects the dialect of CSV files
    _check.py           finds values that do not fit a schema
    _column_check.py    finds the values of one column that do not fit
    _unit_sizes.py      counts the records of each unit
    _check_result.py    SchemaCheck, the result and its text
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
