"""Trees and ensembles in words.

::

    _export_text.py      ``export_text``: a tree or an ensemble as text
    _tree_text.py        a tree as indented text, and the texts of its single nodes
    _ensemble_text.py    an ensemble as a list of rounds
    _rule_sentences.py   one sentence for each leaf of a tree
    _distributions.py    how the targets of a leaf's records are distributed
    _cell_texts.py       the cells of a term of an ensemble
    _shown_values.py     texts of names, sets of categories, thresholds and probabilities
"""
