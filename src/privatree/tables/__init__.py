"""Read containers of any library as typed columns, and select the columns of a schema.

::

    _opening.py         recognises the container and opens it
    _containers.py      numpy, pandas, polars, Arrow, plain Python
    _streams.py         containers that are read in batches of rows
    _columns.py         converts one column of any container to numbers or codes
    _arrow_columns.py   reads a column of Arrow
    _python_values.py   converts single Python objects
    _text.py            converts text of CSV files to numbers and categories
    _frames.py          reads the columns of a schema from a frame
    _batch.py           a batch of records
    _unit_ids.py        reads ids of privacy units, such as persons
    _editing.py         adds rows and changes values, in the user's own kind of container
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
