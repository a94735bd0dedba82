"""Published methods to compare with. Their ``privacy_`` states which guarantee really holds.

The proofs are in ``docs/proofs/baselines.md``.

::

    _bdpt.py, _dpgdf.py    BDPT and DPGDF: splits of one category against the rest
    _one_against_rest.py   the learner behind BDPT and DPGDF
    _random_tree.py        random splits with noisy labels
    _published_tree.py     base classes of BDPT, DPGDF and the random tree
    _other_libraries.py    DiffPrivLib and DP-EBM, with bounds from the schema
    paper/                 the paper's Algorithm 1
    methods/               every method that audits and tables compare, by its name
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
