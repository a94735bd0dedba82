"""How good a model is: private scores on the page and in the card.

::

    _section.py   the values of the section, and the places of its drawings
    _card.py      the section of the card
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
