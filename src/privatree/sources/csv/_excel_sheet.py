"""The first sheet of an Excel workbook as text, cell by cell.

A workbook is a zip archive of XML files. Libraries that read it give up on a value that they cannot
convert, or hold the whole rectangle around the outermost cells; a single record could do either.
Here a cell that cannot be read is empty, and only cells that are there take memory.
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
_QUOTED = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.|_.|\*.')  # parts of a format that are no placeholders
_COLUMN = re.compile(r"([A-Z]{1,3})[0-9]+")
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    ElementTree.ParseError,
    LookupError,
    EOFError,
    RuntimeError,  # of an archive with a password; NotImplementedError is one, too
)
_FIRST_DAYS = {False: datetime(1899, 12, 30), True: datetime(1904, 1, 1)}
"""The day 0, by whether the workbook counts as the first Macintosh did."""


def sheet_rows(path: Path) -> Iterator[dict[int, str]]:
    """Read the first sheet.

    Parameters
    ----------
    path : Path
        An ``.xlsx`` file.

    Yields
    ------
    dict
        The text of each row's cells that are not empty, by the number of their column. A number is
        written in full, a date as in ISO 8601, a formula as the value last computed for it.

    Raises
    ------
    ParameterError
        If the file is no workbook.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            yield from _rows(archive)
            return
    except _UNREADABLE:
        pass  # their text can show a cell, so they are not even kept as the context of ours
    raise ParameterError(f"{path}: not an Excel workbook that can be read. Save it as .xlsx.")


def _rows(archive: zipfile.ZipFile) -> Iterator[dict[int, str]]:
    workbook = ElementTree.fromstring(archive.read("xl/workbook.xml"))
    properties = _child(workbook, "workbookPr")
    counts_from_1904 = properties is not None and properties.get("date1904") in ("1", "true")
    names = archive.namelist()
    shared = _shared_strings(archive) if "xl/sharedStrings.xml" in names else []
    is_date = _date_styles(archive) if "xl/styles.xml" in names else []
    day_0 = _FIRST_DAYS[counts_from_1904]

    def text_of(cell: ElementTree.Element) -> str:
        return _cell_text(cell, shared, is_date, day_0)

    with archive.open(_first_sheet(archive, workbook)) as sheet:
        yield from _sheet(sheet, text_of)


def _first_sheet(archive: zipfile.ZipFile, workbook: ElementTree.Element) -> str:
    """The file of the sheet that stands first."""
    sheets = _children(workbook, "sheets")
    ids = [value for name, value in sheets[0].attrib.items() if _tag(name) == "id"]
    wanted = ids[0]
    for relation in ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels")):
        if relation.get("Id") == wanted:
            target = relation.get("Target", "")
            return target.lstrip("/") if target.startswith("/") else f"xl/{target}"
    raise KeyError(wanted)


def _sheet(
    file: IO[bytes], text_of: Callable[[ElementTree.Element], str]
) -> Iterator[dict[int, str]]:
    """The rows, each forgotten once it is read."""
    holder: ElementTree.Element | None = None
    for event, element in ElementTree.iterparse(file, ("start", "end")):
        tag = _tag(element.tag)
        if tag == "sheetData" and event == "start":
            holder = element
        elif tag == "row" and event == "end" and holder is not None:
            yield _row(element, text_of)
            holder.clear()


def _row(row: ElementTree.Element, text_of: Callable[[ElementTree.Element], str]) -> dict[int, str]:
    cells: dict[int, str] = {}
    place = 0  # a cell that does not say where it is comes next
    for cell in row:
        named = _COLUMN.fullmatch(cell.get("r", ""))
        place = _column_number(named[1]) if named else place + 1
        if text := text_of(cell):
            cells[place] = text
    return cells


def _column_number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


def _cell_text(
    cell: ElementTree.Element, shared: list[str], is_date: list[bool], day_0: datetime
) -> str:
    """What a cell says; nothing if it is empty, or says nothing that can be read."""
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        inline = _child(cell, "is")
        return "" if inline is None else _rich_text(inline)
    found = _child(cell, "v")
    value = "" if found is None or found.text is None else found.text
    try:
        if kind == "s":
            return shared[int(value)] if int(value) >= 0 else ""
        if kind == "b":
            return {"1": "True", "0": "False"}.get(value.strip(), "")
        if kind == "n" and value:
            style = int(cell.get("s", "0"))
            has_date = 0 <= style < len(is_date) and is_date[style]
            return _date(float(value), day_0) if has_date else _number(float(value))
    except (ValueError, IndexError, OverflowError):
        return ""
    return value if kind in ("str", "e", "d") else ""


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


def _date(days: float, day_0: datetime) -> str:
    """A day, or a day and a time, to the second."""
    moment = day_0 + timedelta(seconds=round(days * 86400))
    return moment.date().isoformat() if days == int(days) else moment.isoformat()


def _shared_strings(archive: zipfile.ZipFile) -> list[str]:
    """Texts that cells refer to by number."""
    with archive.open("xl/sharedStrings.xml") as file:
        texts = []
        for _, element in ElementTree.iterparse(file):
            if _tag(element.tag) == "si":
                texts.append(_rich_text(element))
                element.clear()
        return texts


def _rich_text(element: ElementTree.Element) -> str:
    """The text, without how it looks and how it is pronounced."""
    parts = []
    for child in element:
        if _tag(child.tag) == "t":
            parts.append(child.text or "")
        elif _tag(child.tag) == "r":
            parts.append(_rich_text(child))
    return "".join(parts)


def _date_styles(archive: zipfile.ZipFile) -> list[bool]:
    """Whether each style of cells shows a date or a time."""
    styles = ElementTree.fromstring(archive.read("xl/styles.xml"))
    codes = {
        number.get("numFmtId", ""): _QUOTED.sub("", number.get("formatCode", ""))
        for number in _children(styles, "numFmts")
    }
    own = {number for number, code in codes.items() if re.search("[ymdhs]", code, re.IGNORECASE)}
    dates = own | _DATE_FORMATS
    return [style.get("numFmtId") in dates for style in _children(styles, "cellXfs")]


def _child(element: ElementTree.Element, tag: str) -> ElementTree.Element | None:
    return next((child for child in element if _tag(child.tag) == tag), None)


def _children(element: ElementTree.Element, tag: str) -> list[ElementTree.Element]:
    found = _child(element, tag)
    return [] if found is None else list(found)


def _tag(name: str) -> str:
    """A name without its namespace, of which there are several."""
    return name.rpartition("}")[2]
