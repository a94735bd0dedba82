"""Tables as Markdown, LaTeX and CSV: what is escaped and left out, and the files.

The exact text is kept in ``tests/golden/reproduction``.
"""

import re

import pandas as pd
import pytest

from privatree.reproduction.rendering._table import (
    Cell,
    Column,
    Row,
    Section,
    Table,
    latex_table,
    markdown_table,
    table_csv_text,
    write_table,
)

TABLE = Table(
    "Accuracy at ε = 0.1",
    ("dataset",),
    (Column("tree", "no privacy"), Column("A*", "private"), Column("B_2", "private")),
    (
        Section(
            "Small & large",
            (
                Row(("eye_movements",), (Cell(".9", ".1", ".8"), Cell("-.5", bold=True), Cell())),
                Row(("vote",), (Cell("timeout", footnote="100% late"), Cell("-"), Cell("1", "0"))),
                Row(("pol",), (Cell(published=".7"), Cell(), Cell()), footnote="no_data"),
            ),
            (Row(("mean of 2",), (Cell(".95"), Cell(), Cell())),),
        ),
        Section("None here", ()),
    ),
    ("Bold: best.",),
)


def one_cell(cell, **changes):
    return Table(
        changes.get("title", "T"), ("r",), (Column("c"),), (Section("", (Row(("x",), (cell,)),)),)
    )


def test_a_section_without_rows_is_not_shown():
    assert "None here" not in markdown_table(TABLE) + latex_table(TABLE, label="t")


def test_without_rows():
    empty = Table("Nothing", ("dataset",), (Column("a"),), (Section("", ()),), ("A note.",))
    assert markdown_table(empty) == "# Nothing\n\nNone.\n"


def test_markdown_escapes():
    cell = Cell("none", footnote="a|b `c` *d* <e> </f> \\g x < y\nnext <1")
    assert markdown_table(one_cell(cell)).splitlines()[-1] == (
        r"- [1] a\|b \`c\` \*d\* \<e> \</f> \\g x < y next <1"
    )


def test_latex_escapes():
    cell = Cell("none", footnote="a_b 1% $2 #3 {4} 5&6 ~7 ^8 \\9 <10> |11| ±12 13×\n14 - 15")
    assert latex_table(one_cell(cell), label="t").splitlines()[-2] == (
        r"$^{1}$ a\_b 1\% \$2 \#3 \{4\} 5\&6 \textasciitilde{}7 \textasciicircum{}8 "
        r"\textbackslash{}9 $<$10$>$ $|$11$|$ $\pm$12 13$\times$ 14 - 15"
    )


def test_equal_reasons_share_a_footnote():
    cells = (Cell("failed", footnote="a"), Cell("failed", footnote="b"))
    rows = (Row(("x",), cells), Row(("y",), cells[::-1]))
    table = Table("T", ("r",), (Column("c"), Column("d")), (Section("", rows),))
    assert table.footnotes == {"a": 1, "b": 2}


@pytest.mark.parametrize("table", [TABLE, one_cell(Cell("{", footnote="}{%"))])
def test_latex_is_well_formed(table):
    text = latex_table(table, label="t")
    bare = re.sub(r"\\[\\{}&%$#_]", "", re.sub(r"(?m)^%.*$", "", text))
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    assert re.findall(r"\\begin{(.*?)}", text) == re.findall(r"\\end{(.*?)}", text)[::-1]
    inside = text[text.index("\\toprule") : text.index("\\bottomrule")]
    width = len(table.leads) + len(table.columns)
    for line in inside.splitlines():
        if line.endswith(r"\\"):
            spanned = [int(n) - 1 for n in re.findall(r"\\multicolumn{(\d+)}", line)]
            assert len(re.findall(r"(?<!\\)&", line)) + sum(spanned) == width - 1


def test_csv():
    tidy = pd.DataFrame(
        {
            "dataset": ["a,b", "c"],
            "epsilon": [0.1, float("nan")],
            "mean": [0.123456789, 1.0],
            "n": [5, 1234567],
            "size": [1234567.0, 10.0],
            "difference": [-1e-9, -0.005],
            "note": ["", None],
        }
    )
    assert table_csv_text(tidy) == (
        "dataset,epsilon,mean,n,size,difference,note\n"
        '"a,b",0.1,0.123457,5,1234567,0,\n'
        "c,,1,1234567,10,-0.005,\n"
    )


def test_files(tmp_path):
    """Markdown has all tables, the others one level below; LaTeX those that have rows."""
    folder = tmp_path / "new" / "folder"
    more = [Table("Empty", ("x",), (), (Section("", ()),)), TABLE]
    paths = write_table(folder, "name", TABLE, pd.DataFrame({"a": [0.5]}), more=more)
    assert [path.name for path in paths] == ["name.csv", "name.md", "name.tex"]
    assert sorted(folder.iterdir()) == sorted(paths)  # and nothing else is left
    table, page, source = (path.read_bytes().decode() for path in paths)
    assert table == "a\n0.5\n"
    assert page == f"{markdown_table(TABLE)}\n## Empty\n\nNone.\n\n#{markdown_table(TABLE)}"
    assert source == latex_table(TABLE, label="name") + "\n" + latex_table(TABLE, label="name-2")
