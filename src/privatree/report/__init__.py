"""A report on a model for publication: one HTML page, and a model card in Markdown.

::

    _html.py                  the page, from the files in templates/
    _card.py                  the model card
    _summary.py               all values that the page and the card show
    _tree_drawing.py          the boxes of the tree on the page, and which are open at first
    _page_data.py             data for the script of the page
    _shown_names.py           names made short and printable
    _privacy_words.py         what epsilon means for a person, in words
    _certificate_section.py   certificates against poisoned records, or why there are none
    _certificate_table.py     the figures of these certificates
    _citation.py              how to cite the model, and its fingerprint
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
