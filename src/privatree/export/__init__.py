"""A released tree in other forms."""

from privatree.export.text import export_text

__all__ = ["export_text"]
