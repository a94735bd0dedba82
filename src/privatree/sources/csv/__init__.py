"""The content of CSV files: one line is one record, whatever its bytes.

::

    _files.py         a file in chunks of whole rows
    _header.py        the names of the columns
    _rows.py          where rows begin and end, compiled
    _values.py        where values begin and end, compiled
    _raw_files.py     bytes: decompressed, in UTF-8
    _held_files.py    standard input and workbooks, held in memory
    _excel_sheet.py   the cells of a workbook
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
