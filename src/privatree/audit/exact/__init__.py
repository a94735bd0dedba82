"""Exact privacy loss of our learners, from every possible execution of their own code.

::

    _universe.py       all small datasets
    _enumeration.py    every possible execution, with its probability
    _privacy_loss.py   the largest privacy loss of trees over all neighbours and outcomes
    _ensembles.py      the same of ensembles, with the exact delta of two datasets
"""
