"""Published methods to compare with. Their ``privacy_`` states which guarantee really holds.

The proofs are in ``docs/proofs/baselines.md``.

::

    greedy/                published trees that choose splits by the records
    random_forests/        published forests whose splits are random
    growing/               the skeleton behind both: candidates, scores, choosers, labels
    _published_tree.py     base classes of the published methods and of the random tree
    _forest_model.py       a forest of released trees that vote
    _random_tree.py        random splits with noisy labels
    _other_libraries.py    DiffPrivLib and DP-EBM, with bounds from the schema
    paper/                 the paper's Algorithm 1
    methods/               every method that audits and tables compare, by its name
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
