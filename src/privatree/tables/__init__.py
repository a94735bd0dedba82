"""Containers of any library as typed columns, and the columns of a schema among them.

::

    _opening.py         recognises the container and opens it
    _containers.py      numpy, pandas, polars, Arrow, plain Python
    _streams.py         containers that are read in batches of rows
    _columns.py         one column of any container, as numbers or codes
    _arrow_columns.py   a column of Arrow
    _python_values.py   single Python objects
    _text.py            text of CSV files to numbers and categories
    _frames.py          the columns of a schema from a frame
    _batch.py           a batch of records
    _unit_ids.py        ids of privacy units, such as persons
    _editing.py         rows and values added and changed, in the user's own container
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
