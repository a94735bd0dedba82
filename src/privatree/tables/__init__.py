"""Any container to typed columns, and columns matched against a schema.

::

    _opening.py         which container is it?
    _containers.py      numpy, pandas, polars, Arrow, plain Python
    _streams.py         containers that are read some rows at a time
    _columns.py         one column, whatever it came from
    _arrow_columns.py   a column of Arrow
    _python_values.py   single Python objects
    _text.py            text to numbers and categories
    _frames.py          a frame by a schema
    _batch.py           some rows of it
    _editing.py         rows added, removed and changed, in the caller's own container
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
