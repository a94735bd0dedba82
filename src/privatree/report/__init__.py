"""A report on a model for publication: one HTML page, and a model card in Markdown.

::

    _html.py                  the page, from the files in templates/
    _card.py                  the model card
    tree/                     what only the page and the card of a tree have
    ensemble/                 what only the page and the card of an ensemble have
    scores/                   how good the model is, by private scores
    _summary.py               values that the pages and cards of all models show
    _page.py                  what a page is made of
    _card_text.py             what a card is made of, and Markdown that shows texts as they are
    _schema_table.py          the schema as a table, and as the fields of the form
    _budget_bar.py            where epsilon went, as a bar
    _shown_names.py           names made short and printable
    _privacy_words.py         what epsilon and delta mean for a person, in words
    _certificate_section.py   certificates against poisoned records, or why there are none
    _certificate_table.py     the figures of these certificates
    _citation.py              how to cite the model, and its fingerprint

``templates/`` has the folders ``shared``, ``tree`` and ``ensemble``. The page of a tree or an
ensemble extends ``shared/page.html``. Its style and its script are those of its folder after the
shared ones.
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
