"""Five small public datasets, each with a schema written from its public documentation.

They are the UCI datasets of the PrivaTree paper that have a licence. Rows with missing values are
left out. Sources, licences and changes are listed in ``data/CREDITS.md``;
``scripts/build_bundled_data.py`` rebuilds the files. ``_bundled.py`` loads them.
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
