from privatree.report._card import model_card
from privatree.report._citation import fingerprint
from privatree.report._html import html_report

__all__ = ["fingerprint", "html_report", "model_card"]
