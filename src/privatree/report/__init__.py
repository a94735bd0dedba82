"""A model to publish: one HTML page with all there is to know of it, and a model card.

::

    summary.py            a model -> everything that the page shows, as plain values
      drawing.py            where the boxes of the tree stand
      shown_names.py        names of any length and kind, fit to be shown
      privacy_words.py      what epsilon means for a person, and what must be said aloud
      certificate_section.py  what poisoned records leave, or why nobody can say
      certificate_table.py  its figures, never more than what holds
      citation.py           how to cite
    html.py               the summary -> one HTML text (templates/)
    card.py               the summary -> a model card in Markdown
"""

from privatree.report.card import model_card
from privatree.report.citation import fingerprint
from privatree.report.html import html_report

__all__ = ["fingerprint", "html_report", "model_card"]
