"""Results as tables and figures.

::

    _summaries.py          means and standard errors
    _tables.py             tables of accuracy and time
    _table_formats.py      a table as Markdown, LaTeX and CSV
    _dataset_tables.py     the table of datasets
    _guarantees.py         certified accuracy from results
    _guarantee_tables.py   its tables
    _attack_success.py     certified success of attacks from results
    _figures.py            curves
    _ternary_maps.py       triangles, for shares of the budget
    _backdoor_figure.py    the figure of the backdoor
    _titles.py             names of datasets and methods, as printed
    _number_texts.py       numbers, as printed
"""
