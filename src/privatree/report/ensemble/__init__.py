"""The page and the card of an ensemble.

::

    _ensemble_page.py   all values that the page and the card show of an ensemble
    _term_rows.py       the terms as rows of a table, with their largest effects in words
    _script_data.py     the terms as data for the script of the page
    _budget_parts.py    what epsilon was spent on, without a tree
    _ensemble_card.py   the sections of the card that only an ensemble has
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
