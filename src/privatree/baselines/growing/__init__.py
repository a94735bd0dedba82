"""The skeleton of published private trees: candidates, score, chooser, stop, labeller, forest.

A method names its parts. The files of ``greedy/`` and ``random_forests/`` do so.

::

    _coding.py         codes of values, the splits to choose from, and how a split is written
    _scores.py         scores of splits, and their ranges
    _growth.py         the loop that grows a tree level by level
    _method.py         what a method is: its options, its guarantee, how it grows trees
    _rules.py          choosers, the stop rule, and the rules that put them together
    _labellers.py      labels of leaves
    _structures.py     splits that are drawn before the records are counted
    _specialising.py   the draws of DiffGen and DT-Diff, which are about all records at once
    _pruning.py        what released counts say about splits that are not worth it
"""
