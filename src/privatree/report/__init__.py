"""A model to publish: one HTML page with all there is to know of it, and a model card.

::

    _summary.py               everything that the page shows, as plain values
    _drawing.py               where the boxes of the tree stand
    _page_data.py             what the page's script needs
    _shown_names.py           names of any length and kind, fit to be shown
    _privacy_words.py         what epsilon means for a person
    _certificate_section.py   what poisoned records leave, or why nobody can say
    _certificate_table.py     its figures, never more than what holds
    _citation.py              how to cite the model; its fingerprint
    _html.py                  the page (templates/)
    _card.py                  a model card in Markdown
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
