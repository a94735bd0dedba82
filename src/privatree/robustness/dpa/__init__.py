"""Deep partition aggregation: many trees on parts of the records vote. Not private.

::

    _classifier.py    DPAClassifier
    _voter.py         one tree
    _record_hash.py   which part a record belongs to
"""
