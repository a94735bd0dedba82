"""The first sheet of an Excel workbook as text, cell by cell.

A workbook is a zip archive of XML files. Libraries that read workbooks fail on a value that they
cannot convert, or keep the whole rectangle around the outermost cells in memory. A single record
could cause either. Here a cell that cannot be read is empty, and empty cells take no memory.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO
from xml.etree import ElementTree

from privatree.errors import ParameterError

_DATE_FORMATS = frozenset(
    map(str, [*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)])
)
"""Numbers of the built-in formats that show a date or a time."""
_LITERAL = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.|_.|\*.')  # parts of a format that show no value
_COLUMN = re.compile(r"([A-Z]{1,3})[0-9]+")
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    ElementTree.ParseError,
    LookupError,
    EOFError,
    RuntimeError,  # for an archive with a password; NotImplementedError is a subclass
)
_FIRST_DAYS = {False: datetime(1899, 12, 30), True: datetime(1904, 1, 1)}
"""Date of day 0, by whether the workbook uses the 1904 date system, as old Macintosh files do."""


def read_excel_sheet(path: Path) -> Iterator[dict[int, str]]:
    """Yield, for each row of the first sheet, the text of its cells by column number from 1.

    Empty cells are left out. A number is written in full, a date as in ISO 8601, and a formula as
    the value that was computed last.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            yield from _read_first_sheet(archive)
            return
    except _UNREADABLE:
        pass  # the text of these errors can show a cell, so they must not be the context of ours
    raise ParameterError(
        f"{path}: must be an Excel workbook, but cannot be read as one. Save it again as .xlsx."
    )


def _read_first_sheet(archive: zipfile.ZipFile) -> Iterator[dict[int, str]]:
    workbook = ElementTree.fromstring(archive.read("xl/workbook.xml"))
    properties = _find_xml_child(workbook, "workbookPr")
    counts_from_1904 = properties is not None and properties.get("date1904") in ("1", "true")
    names = archive.namelist()
    shared = _read_shared_cell_texts(archive) if "xl/sharedStrings.xml" in names else []
    is_date = _find_date_cell_styles(archive) if "xl/styles.xml" in names else []
    day_0 = _FIRST_DAYS[counts_from_1904]

    def read_cell_text(cell: ElementTree.Element) -> str:
        return _cell_text(cell, shared, is_date, day_0)

    with archive.open(_first_sheet_path(archive, workbook)) as sheet:
        yield from _parse_sheet(sheet, read_cell_text)


def _first_sheet_path(archive: zipfile.ZipFile, workbook: ElementTree.Element) -> str:
    sheets = _xml_grandchildren(workbook, "sheets")
    ids = [value for name, value in sheets[0].attrib.items() if _xml_name(name) == "id"]
    wanted = ids[0]
    for relation in ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels")):
        if relation.get("Id") == wanted:
            target = relation.get("Target", "")
            return target.lstrip("/") if target.startswith("/") else f"xl/{target}"
    raise KeyError(wanted)


def _parse_sheet(
    file: IO[bytes], read_cell_text: Callable[[ElementTree.Element], str]
) -> Iterator[dict[int, str]]:
    """Yield the rows of a sheet, and free the memory of each row after its use."""
    holder: ElementTree.Element | None = None
    for event, element in ElementTree.iterparse(file, ("start", "end")):
        tag = _xml_name(element.tag)
        if tag == "sheetData" and event == "start":
            holder = element
        elif tag == "row" and event == "end" and holder is not None:
            yield _parse_sheet_row(element, read_cell_text)
            holder.clear()


def _parse_sheet_row(
    row: ElementTree.Element, read_cell_text: Callable[[ElementTree.Element], str]
) -> dict[int, str]:
    cells: dict[int, str] = {}
    place = 0  # a cell without a column name follows the cell before it
    for cell in row:
        named = _COLUMN.fullmatch(cell.get("r", ""))
        place = _parse_cell_column(named[1]) if named else place + 1
        if text := read_cell_text(cell):
            cells[place] = text
    return cells


def _parse_cell_column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


def _cell_text(
    cell: ElementTree.Element, shared: list[str], is_date: list[bool], day_0: datetime
) -> str:
    """Return the text of a cell, "" if the cell is empty or cannot be read."""
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        inline = _find_xml_child(cell, "is")
        return "" if inline is None else _plain_cell_text(inline)
    found = _find_xml_child(cell, "v")
    value = "" if found is None or found.text is None else found.text
    try:
        if kind == "s":
            return shared[int(value)] if int(value) >= 0 else ""
        if kind == "b":
            return {"1": "True", "0": "False"}.get(value.strip(), "")
        if kind == "n" and value:
            style = int(cell.get("s", "0"))
            has_date = 0 <= style < len(is_date) and is_date[style]
            return _cell_date(float(value), day_0) if has_date else _cell_number(float(value))
    except (ValueError, IndexError, OverflowError):
        return ""
    return value if kind in ("str", "e", "d") else ""


def _cell_number(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


def _cell_date(days: float, day_0: datetime) -> str:
    """Return a date as text, with the time to the second if there is one."""
    moment = day_0 + timedelta(seconds=round(days * 86400))
    return moment.date().isoformat() if days == int(days) else moment.isoformat()


def _read_shared_cell_texts(archive: zipfile.ZipFile) -> list[str]:
    """Return the texts to which cells refer by number."""
    with archive.open("xl/sharedStrings.xml") as file:
        texts = []
        for _, element in ElementTree.iterparse(file):
            if _xml_name(element.tag) == "si":
                texts.append(_plain_cell_text(element))
                element.clear()
        return texts


def _plain_cell_text(element: ElementTree.Element) -> str:
    """Return the text of an element without its formatting and pronunciation."""
    parts = []
    for child in element:
        if _xml_name(child.tag) == "t":
            parts.append(child.text or "")
        elif _xml_name(child.tag) == "r":
            parts.append(_plain_cell_text(child))
    return "".join(parts)


def _find_date_cell_styles(archive: zipfile.ZipFile) -> list[bool]:
    """Return, for each cell style, whether it shows a date or a time."""
    styles = ElementTree.fromstring(archive.read("xl/styles.xml"))
    codes = {
        number.get("numFmtId", ""): _LITERAL.sub("", number.get("formatCode", ""))
        for number in _xml_grandchildren(styles, "numFmts")
    }
    own = {number for number, code in codes.items() if re.search("[ymdhs]", code, re.IGNORECASE)}
    dates = own | _DATE_FORMATS
    return [style.get("numFmtId") in dates for style in _xml_grandchildren(styles, "cellXfs")]


def _find_xml_child(element: ElementTree.Element, tag: str) -> ElementTree.Element | None:
    return next((child for child in element if _xml_name(child.tag) == tag), None)


def _xml_grandchildren(element: ElementTree.Element, tag: str) -> list[ElementTree.Element]:
    found = _find_xml_child(element, tag)
    return [] if found is None else list(found)


def _xml_name(name: str) -> str:
    """Remove the XML namespace from a name. Different programs write different namespaces."""
    return name.rpartition("}")[2]
