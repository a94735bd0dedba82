"""Results as tables and figures.

::

    _summaries.py      means and standard errors, beside the paper's figures
    _table.py          a table as Markdown, LaTeX and CSV
    _score_tables.py   the tables of accuracy and of seconds
    _probability_tables.py   the tables of AUC and log loss
    _guarantees.py     accuracy guaranteed if records are poisoned, and cells for its tables
    _backdoor.py       success rate of a backdoor attack, bounds on it, and its figure
    _survey_figure.py  accuracy of published methods against the epsilon that is proved
    _figures.py        curves, and writing any figure as PNG and SVG
    _ternary_maps.py   triangular maps of a budget divided in three
    _wording.py        how numbers, suites and methods are written
"""
