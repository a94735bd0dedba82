"""The exact privacy loss of our learner, by running its own code in every possible way.

::

    _universe.py       all small datasets
    _enumeration.py    every way a run can go, with its probability
    _privacy_loss.py   the largest ratio over all neighbours and outcomes
"""
