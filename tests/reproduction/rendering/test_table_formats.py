"""Tables as Markdown, LaTeX and CSV: the exact text, what is escaped, and the files."""

import re

import pandas as pd
import pytest

from privatree.reproduction.rendering._table_formats import (
    Cell,
    Column,
    Row,
    Section,
    Table,
    csv_text,
    latex,
    markdown,
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

MARKDOWN = r"""# Accuracy at ε = 0.1

| dataset           |        tree |     A\* |  B_2 |
| ----------------- | ----------: | ------: | ---: |
| **Small & large** |             |         |      |
| eye_movements     | .9 ±.1 (.8) | **-.5** |      |
| vote              | timeout [1] |       - | 1 ±0 |
| pol [2]           |        (.7) |         |      |
| mean of 2         |         .95 |         |      |

- Columns: tree (no privacy); A\*, B_2 (private).
- Bold: best.
- In parentheses: the figure that the paper published.
- [1] 100% late
- [2] no_data
"""

LATEX = r"""% Needs \usepackage{booktabs,graphicx}.
\begin{table*}[tb]
\centering
\caption{Accuracy at $\epsilon$ = 0.1}
\label{tab:some-name}
\scriptsize
\setlength{\tabcolsep}{2.5pt}
\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%
\begin{tabular}{@{}lrrr@{}}
\toprule
 & \multicolumn{1}{c}{no privacy} & \multicolumn{2}{c}{private} \\
\cmidrule(lr){2-2}\cmidrule(lr){3-4}
\textbf{dataset} & \textbf{tree} & \textbf{A*} & \textbf{B\_2} \\
\midrule
\multicolumn{4}{c}{Small \& large} \\
\midrule
eye\_movements & .9 \tiny $\pm$ .1 (.8) & \textbf{$-$.5} & \\
vote & timeout$^{1}$ & - & 1 \tiny $\pm$ 0 \\
pol$^{2}$ & \tiny (.7) &  & \\
\cmidrule{1-4}
mean of 2 & .95 &  & \\
\bottomrule
\end{tabular}}
\par\smallskip
\raggedright
Bold: best.\\
In parentheses: the figure that the paper published.\\
$^{1}$ 100\% late\\
$^{2}$ no\_data
\end{table*}
"""


def one_cell(cell, **changes):
    return Table(
        changes.get("title", "T"), ("r",), (Column("c"),), (Section("", (Row(("x",), (cell,)),)),)
    )


def test_markdown():
    assert markdown(TABLE) == MARKDOWN


def test_latex():
    assert latex(TABLE, label="some-name") == LATEX


def test_a_table_below_another_has_a_smaller_heading():
    assert markdown(TABLE, level=2) == "#" + MARKDOWN


def test_without_rows():
    empty = Table("Nothing", ("dataset",), (Column("a"),), (Section("", ()),), ("A note.",))
    assert markdown(empty) == "# Nothing\n\nNone.\n"


def test_several_leads():
    table = Table(
        "T", ("dataset", "ε"), (Column("a"),), (Section("", (Row(("vote", ".1"), (Cell("1"),)),)),)
    )
    assert markdown(table).splitlines()[2:] == [
        "| dataset | ε   |   a |",
        "| ------- | --- | --: |",
        "| vote    | .1  |   1 |",
    ]
    assert "\\begin{tabular}{@{}llr@{}}" in latex(table, label="t")
    assert "vote & .1 & 1 \\\\" in latex(table, label="t")


def test_markdown_escapes():
    cell = Cell("none", footnote="a|b `c` *d* <e> </f> \\g x < y\nnext <1")
    assert markdown(one_cell(cell)).splitlines()[-1] == (
        r"- [1] a\|b \`c\` \*d\* \<e> \</f> \\g x < y next <1"
    )


def test_latex_escapes():
    cell = Cell("none", footnote="a_b 1% $2 #3 {4} 5&6 ~7 ^8 \\9 <10> |11| ±12 13×\n14 - 15")
    assert latex(one_cell(cell), label="t").splitlines()[-2] == (
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
    text = latex(table, label="t")
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
    assert csv_text(tidy) == (
        "dataset,epsilon,mean,n,size,difference,note\n"
        '"a,b",0.1,0.123457,5,1234567,0,\n'
        "c,,1,1234567,10,-0.005,\n"
    )


def test_files(tmp_path):
    folder = tmp_path / "new" / "folder"
    tidy = pd.DataFrame({"a": [0.5]})
    more = [Table("More", ("x",), (), (Section("", ()),))]
    paths = write_table(folder, "some-name", TABLE, tidy, more=more)
    assert [path.name for path in paths] == ["some-name.csv", "some-name.md", "some-name.tex"]
    assert sorted(folder.iterdir()) == sorted(paths)  # and nothing else is left
    contents = [path.read_bytes().decode() for path in paths]
    assert contents == ["a\n0.5\n", MARKDOWN + "\n## More\n\nNone.\n", LATEX]


def test_latex_has_all_tables_that_have_rows(tmp_path):
    more = [Table("Empty", ("x",), (), (Section("", ()),)), TABLE]
    *_, path = write_table(tmp_path, "name", TABLE, pd.DataFrame({"a": [0.5]}), more=more)
    assert path.read_text() == latex(TABLE, label="name") + "\n" + latex(TABLE, label="name-2")
