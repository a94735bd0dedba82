"""A table as Markdown, as LaTeX and as tidy CSV.

A cell shows the measured figure and, in parentheses, the published one. A footnote can say why a
cell or row has no figure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from privatree._support.atomic_files import replace_file

if TYPE_CHECKING:
    import pandas as pd

_PARENTHESES = "In parentheses: the figure that the paper published."


@dataclass(frozen=True)
class Cell:
    """One cell of a table. Empty parts are not shown; ``error`` is shown after ±."""

    text: str = ""
    error: str = ""
    published: str = ""
    bold: bool = False
    footnote: str = ""


@dataclass(frozen=True)
class Row:
    """One row of a table; ``titles`` has one text for each of the table's ``leads``."""

    titles: Sequence[str]
    cells: Sequence[Cell]
    footnote: str = ""


@dataclass(frozen=True)
class Section:
    """Rows under a heading, and summary rows below a line. An empty title gives no heading."""

    title: str
    rows: Sequence[Row]
    summary: Sequence[Row] = ()


@dataclass(frozen=True)
class Column:
    """The heading of a column; adjacent columns of the same ``group`` share a heading above it."""

    title: str
    group: str = ""


@dataclass(frozen=True)
class Table:
    """A table; ``leads`` are the headings of the first columns, which name each row."""

    title: str
    leads: Sequence[str]
    columns: Sequence[Column]
    sections: Sequence[Section]
    notes: Sequence[str] = ()

    @property
    def rows(self) -> Iterator[Row]:
        """All rows of all sections, from top to bottom."""
        for section in self.sections:
            yield from section.rows
            yield from section.summary

    @property
    def all_notes(self) -> list[str]:
        """The notes, and an explanation of the parentheses if the table has any."""
        published = any(cell.published for row in self.rows for cell in row.cells)
        return [*self.notes, *([_PARENTHESES] if published else [])]

    @property
    def footnotes(self) -> dict[str, int]:
        """The footnotes of rows and cells with their numbers, from 1 on."""
        found = [(row.footnote, *(cell.footnote for cell in row.cells)) for row in self.rows]
        reasons = dict.fromkeys(reason for of_row in found for reason in of_row if reason)
        return {reason: number for number, reason in enumerate(reasons, start=1)}


def write_table(
    folder: Path, name: str, table: Table, tidy: pd.DataFrame, *, more: Sequence[Table] = ()
) -> tuple[Path, Path, Path]:
    """Write NAME.csv, NAME.md and NAME.tex into `folder`, and return their paths.

    The CSV file has the rows of `tidy`, one figure or comparison in each. Markdown and LaTeX show
    `table`, and `more` tables below it. LaTeX uses `name` as the label.
    """
    folder.mkdir(parents=True, exist_ok=True)
    pages = [markdown_table(table), *(markdown_table(other, level=2) for other in more)]
    filled = [other for other in more if any(True for _ in other.rows)]
    floats = [latex_table(table, label=name)]
    floats += [latex_table(other, label=f"{name}-{n}") for n, other in enumerate(filled, start=2)]
    return (
        replace_file(folder / f"{name}.csv", table_csv_text(tidy)),
        replace_file(folder / f"{name}.md", "\n".join(pages)),
        replace_file(folder / f"{name}.tex", "\n".join(floats)),
    )


# --- CSV ----------------------------------------------------------------------------------------


def table_csv_text(tidy: pd.DataFrame) -> str:
    """Write a DataFrame as CSV, with at most six decimals, and NaN and None as empty texts."""
    return tidy.astype(object).map(_table_csv_value).to_csv(index=False, lineterminator="\n")


def _table_csv_value(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return f"{round(value, 6) + 0.0:.6f}".rstrip("0").rstrip(".")  # + 0.0 turns -0 into 0
    return str(value)


# --- Markdown -----------------------------------------------------------------------------------


def markdown_table(table: Table, *, level: int = 1) -> str:
    """Write a table in GitHub's Markdown, with aligned columns for readers of the plain text."""
    lines = ["#" * level + f" {_markdown_text(table.title)}", ""]
    footnotes = table.footnotes
    body = list(_markdown_table_rows(table, footnotes))
    if not body:
        return "\n".join([*lines, "None.", ""])
    heading = [*table.leads, *(column.title for column in table.columns)]
    lines += _markdown_table_lines(
        [_markdown_text(title) for title in heading], body, len(table.leads)
    )
    notes = [*_table_column_groups_note(table), *table.all_notes]
    shown = [f"- {_markdown_text(note)}" for note in notes]
    shown += [f"- [{number}] {_markdown_text(reason)}" for reason, number in footnotes.items()]
    return "\n".join([*lines, *(["", *shown] if shown else []), ""])


def _markdown_table_rows(table: Table, footnotes: dict[str, int]) -> Iterator[list[str]]:
    width = len(table.leads) + len(table.columns)
    for section in table.sections:
        if section.title and (section.rows or section.summary):
            yield [f"**{_markdown_text(section.title)}**"] + [""] * (width - 1)
        for row in (*section.rows, *section.summary):
            titles = [_markdown_text(title) for title in row.titles]
            if row.footnote:
                titles[0] += f" [{footnotes[row.footnote]}]"
            yield titles + [_markdown_table_cell(cell, footnotes) for cell in row.cells]


def _table_column_groups_note(table: Table) -> list[str]:
    """Return a note on which columns belong together: Markdown has no headings for groups."""
    named = [column for column in table.columns if column.group]
    groups = groupby(named, key=lambda column: column.group)
    parts = [f"{', '.join(c.title for c in columns)} ({group})" for group, columns in groups]
    return [f"Columns: {'; '.join(parts)}."] if parts else []


def _markdown_table_cell(cell: Cell, footnotes: dict[str, int]) -> str:
    text = _markdown_text(cell.text)
    parts = [f"**{text}**" if cell.bold else text]
    parts += [f"±{cell.error}"] if cell.error else []
    parts += [f"({_markdown_text(cell.published)})"] if cell.published else []
    parts += [f"[{footnotes[cell.footnote]}]"] if cell.footnote else []
    return " ".join(filter(None, parts))


def _markdown_table_lines(heading: list[str], body: list[list[str]], n_leads: int) -> list[str]:
    widths = [max(3, *map(len, column)) for column in zip(heading, *body, strict=True)]
    leads, others = widths[:n_leads], widths[n_leads:]
    rule = [*("-" * width for width in leads), *("-" * (width - 1) + ":" for width in others)]
    places = [*(f"{{:<{width}}}" for width in leads), *(f"{{:>{width}}}" for width in others)]
    return [f"| {' | '.join(places)} |".format(*line) for line in [heading, rule, *body]]


def _markdown_text(text: str) -> str:
    """Escape text so that Markdown shows it unchanged, also within a table."""
    one_line = " ".join(text.split())
    return re.sub(r"([\\`*|]|<(?=[A-Za-z/!?]))", r"\\\1", one_line)


# --- LaTeX --------------------------------------------------------------------------------------

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_"},
    **{character: f"${character}$" for character in "<>|"},
    "±": r"$\pm$",
    "×": r"$\times$",
    "ε": r"$\epsilon$",
    "†": r"$^\dagger$",
}


def latex_table(table: Table, *, label: str) -> str:
    """Write a table as a LaTeX float, at most as wide as the text, for booktabs and graphicx."""
    footnotes = table.footnotes
    layout = "@{}" + "l" * len(table.leads) + "r" * len(table.columns) + "@{}"
    shown = [_latex_text(note) for note in table.all_notes]
    shown += [f"$^{{{number}}}$ {_latex_text(reason)}" for reason, number in footnotes.items()]
    lines = [
        r"% Needs \usepackage{booktabs,graphicx}.",
        r"\begin{table*}[tb]",
        r"\centering",
        rf"\caption{{{_latex_text(table.title)}}}",
        rf"\label{{tab:{label}}}",
        r"\scriptsize",
        r"\setlength{\tabcolsep}{2.5pt}",
        r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%",
        rf"\begin{{tabular}}{{{layout}}}",
        r"\toprule",
        *_latex_heading_lines(table),
        *_latex_body_lines(table, footnotes),
        r"\bottomrule",
        r"\end{tabular}}",
        *([r"\par\smallskip", r"\raggedright", "\\\\\n".join(shown)] if shown else []),
        r"\end{table*}",
    ]
    return "\n".join(lines) + "\n"


def _latex_heading_lines(table: Table) -> Iterator[str]:
    titles = [*table.leads, *(column.title for column in table.columns)]
    if any(column.group for column in table.columns):
        yield from _latex_group_lines(table)
    yield _latex_line(rf"\textbf{{{_latex_text(title)}}}" if title else "" for title in titles)


def _latex_group_lines(table: Table) -> Iterator[str]:
    place = len(table.leads)
    groups, rules = [""] * place, []
    for group, columns in groupby(table.columns, key=lambda column: column.group):
        width = len(list(columns))
        groups.append(rf"\multicolumn{{{width}}}{{c}}{{{_latex_text(group)}}}")
        if group:
            rules.append(rf"\cmidrule(lr){{{place + 1}-{place + width}}}")
        place += width
    yield _latex_line(groups)
    yield "".join(rules)


def _latex_body_lines(table: Table, footnotes: dict[str, int]) -> Iterator[str]:
    width = len(table.leads) + len(table.columns)
    for section in table.sections:
        if not section.rows and not section.summary:
            continue
        yield r"\midrule"
        if section.title:
            heading = _latex_text(section.title)
            yield _latex_line([rf"\multicolumn{{{width}}}{{c}}{{{heading}}}"])
            yield r"\midrule"
        yield from (_latex_row(row, footnotes) for row in section.rows)
        if section.rows and section.summary:
            yield rf"\cmidrule{{1-{width}}}"
        yield from (_latex_row(row, footnotes) for row in section.summary)


def _latex_row(row: Row, footnotes: dict[str, int]) -> str:
    titles = [_latex_text(title) for title in row.titles]
    titles[0] += _latex_footnote_mark(row.footnote, footnotes)
    return _latex_line([*titles, *(_latex_cell(cell, footnotes) for cell in row.cells)])


def _latex_cell(cell: Cell, footnotes: dict[str, int]) -> str:
    text = _latex_text(cell.text)
    shown = rf"\textbf{{{text}}}" if cell.bold else text
    small = [rf"$\pm$ {cell.error}"] if cell.error else []
    small += [f"({_latex_text(cell.published)})"] if cell.published else []
    shown += _latex_footnote_mark(cell.footnote, footnotes)
    return " ".join([*([shown] if shown else []), *([r"\tiny", *small] if small else [])])


def _latex_footnote_mark(footnote: str, footnotes: dict[str, int]) -> str:
    return f"$^{{{footnotes[footnote]}}}$" if footnote else ""


def _latex_line(cells: Iterable[str]) -> str:
    return " & ".join(cells).rstrip() + r" \\"


def _latex_text(text: str) -> str:
    """Escape text so that LaTeX prints it unchanged, with a minus sign before negative numbers."""
    signed = re.fullmatch(r"-(?=[.\d])(.*)", text)
    if signed:
        return "$-$" + _latex_text(signed[1])
    return "".join(_LATEX.get(character, character) for character in " ".join(text.split()))
