"""The terms of an ensemble as pictures, text and files.

::

    _reading.py        the terms of a model, and what they are about
    _term_plot.py      ``plot_term``: one term as a curve, as dots or as a heat map
    _overview_plot.py  ``plot_terms``: the strongest terms as small multiples
    _curve.py          a term of one number
    _dots.py           a term of one feature with categories
    _heat_map.py       a term of two features
    _number_scale.py   the axis of a number, linear or wide around a released interval
    _term_bars.py      the strongest terms as lines of text
    _export_terms.py   ``export_terms``: all terms as CSV or JSON
    _terms_csv.py      a row for each cell of each term
    _terms_json.py     axes, values and bands as lists
"""
