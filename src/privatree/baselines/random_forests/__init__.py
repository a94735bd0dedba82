"""Published forests of random trees: the records decide labels, and no split.

::

    _private_rdt.py           Private-RDT: averages of noisy class shares
    _dprf.py                  dpRFMV and dpRFTA: random thresholds, with categories as numbers
    _smooth_random_trees.py   Smooth Random Trees: labels by smooth sensitivity
"""
