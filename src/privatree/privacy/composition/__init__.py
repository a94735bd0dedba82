"""Draws of bounded range that are charged for together, at less than the sum of their epsilons.

::

    _composition.py      ranges of draws, and what they cost together
    _bounded_range.py    the largest delta that draws of given ranges can have
    _range_kernel.py     one draw of this computation
    _largest_range.py    the largest ranges that a given epsilon and delta allow
    _composed_ledger.py  makes the draws that were charged for, and no others
"""
