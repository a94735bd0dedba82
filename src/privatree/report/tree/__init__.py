"""The page and the card of a tree.

::

    _tree_page.py      all values that the page and the card show of a tree
    _tree_drawing.py   the boxes of the tree on the page, and which are open at first
    _leaf_numbers.py   leaves with a number: their colour, and the distribution of their records
    _script_data.py    the tree as data for the script of the page
    _tree_card.py      the sections of the card that only a tree has
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
