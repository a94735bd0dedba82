"""Deep partition aggregation: a vote of models trained on parts of the records. Not private.

::

    _classifier.py    DPAClassifier: training, votes, certified radii
    _voter.py         the model and the votes of one partition
    _record_hash.py   the partition to which a record belongs
"""
