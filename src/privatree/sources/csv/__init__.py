"""The content of CSV files: one line is one record, whatever its bytes.

::

    _csv_file.py          a CSV file and its rows
    _header.py            the first row, which names the columns
    _rows.py              where rows begin and end, compiled
    _values.py            where values begin and end, compiled
    _utf8_stream.py       the decompressed content in UTF-8
    _in_memory_files.py   the standard input and workbooks
    _excel_sheet.py       the cells of a workbook
"""

from privatree._support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
