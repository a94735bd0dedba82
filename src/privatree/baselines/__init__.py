"""Published methods to compare with, each with an honest ``privacy_``.

What each of them guarantees is in ``docs/proofs/baselines.md``.

::

    _bdpt.py, _dpgdf.py    splits of one category against the rest
    _one_against_rest.py   their algorithm
    _published_tree.py     their estimator
    _random_tree.py        random splits
    _diffprivlib.py        what DiffPrivLib must be told; its logistic regression
    _dp_ebm.py             DP-EBM, told what is public
    paper/                 the paper's Algorithm 1
    methods/               every method that audits and tables compare, by its name
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
