"""Exact privacy loss of our learner, from every possible execution of its own code.

::

    _universe.py       all small datasets
    _enumeration.py    every possible execution, with its probability
    _privacy_loss.py   the largest privacy loss over all neighbours and outcomes
"""
