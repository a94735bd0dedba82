"""Results as tables and figures.

::

    _summaries.py      means and standard errors, beside what the paper published
    _table.py          a table as Markdown, LaTeX and CSV
    _tables.py         tables of accuracy and time
    _guarantees.py     certified accuracy from results, and its tables
    _backdoor.py       certified success of attacks from results, and its figure
    _figures.py        curves
    _ternary_maps.py   triangles, for shares of the budget
    _wording.py        numbers, datasets and methods, as printed
"""
