from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privatree._support.toml_files import MAX_BYTES, MAX_VALUES, read_toml, toml_text, write_toml
from privatree.errors import SchemaError


def read(path: Path, contents: str | bytes) -> Any:
    path.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
    return read_toml(path, lambda written: written)


PARTS = ".".join("a" * 9)


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (b"\xff", "must be UTF-8 text. Save it as UTF-8."),
        ("a = 1".encode("utf-16"), "must be UTF-8 text. Save it as UTF-8."),
        (b"\xef\xbb\xbf\xef\xbb\xbfa = 1", "must be TOML, but is not"),
        ("a = ", "must be TOML, but is not"),
        ("a = " + "9" * 5000, "thousands of digits"),
        ("a = " + "[" * 100_000, "without deep nesting"),
        ("a = " + "{a = " * 100_000, "without deep nesting"),
        (" " * (MAX_BYTES + 1), f"at most {MAX_BYTES} bytes"),
        ("a = [" + "1," * (MAX_VALUES + 1) + "]", f"at most {MAX_VALUES} values"),
        ("\n" * (MAX_VALUES + 1), f"at most {MAX_VALUES} lines"),
        (f"{PARTS} = 1", "at most 8 parts"),
        (f"[{PARTS}]", "at most 8 parts"),
        (f"[[{PARTS}]]", "at most 8 parts"),
        (f"x = {{{PARTS} = 1}}", "at most 8 parts"),
        (PARTS.replace("a", '"a"') + " = 1", "at most 8 parts"),
        (PARTS.replace("a", "'.'").replace(".", " . ") + " = 1", "at most 8 parts"),
        (f'x = """a"""""\n{PARTS} = 1', "at most 8 parts"),
        (f'x = [ """a""""" , {{{PARTS} = 1}}]', "at most 8 parts"),
        (f"x = '''a'''''\n{PARTS} = 1", "at most 8 parts"),
        (f'x = "\\\\"\n{PARTS} = 1', "at most 8 parts"),
        (f'x = "\\""\n{PARTS} = 1', "at most 8 parts"),
        (f"x = '\\'\n{PARTS} = 1", "at most 8 parts"),
        (f"# it's\n{PARTS} = 1", "at most 8 parts"),
    ],
    ids=range(23),
)
def test_what_is_no_small_toml_is_refused_in_one_line(
    tmp_path: Path, contents: str | bytes, message: str
) -> None:
    path = tmp_path / "x"
    with pytest.raises(SchemaError, match=f"^{path}: .*{re.escape(message)}") as caught:
        read(path, contents)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_mark_that_editors_begin_a_file_with_is_fine(tmp_path: Path) -> None:
    assert read(tmp_path / "x", b"\xef\xbb\xbfa = 'b'") == {"a": "b"}


@pytest.mark.parametrize(
    "value",
    [
        f'"{PARTS}"', f"'{PARTS}'", f'"""\n{PARTS}"""', f"'''\n{PARTS}'''", f"1 # {PARTS}",
        "[" + "1.5, " * 20 + "]", f'"\\"{PARTS}"', f'"""\\"{PARTS}"""', "1979-05-27T07:32:00.999",
    ],
)  # fmt: skip
def test_dots_elsewhere_are_no_parts_of_a_key(tmp_path: Path, value: str) -> None:
    text = f"a.b.c.d.e.f.g.h = {value}"
    assert read(tmp_path / "x", text) == tomllib.loads(text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "contents",
    [
        ".".join("a" * 100_000) + " = 1",
        "[" + ".".join("a" * 5000) + "]\n" + "".join(f"a{n} = 1\n" for n in range(5000)),
        '"' * MAX_BYTES,
        "'" * MAX_BYTES,
        '"\\' * (MAX_BYTES // 2),
        'a = "' + '\\"' * (MAX_BYTES // 3),
        'a = """' + '\\"' * (MAX_BYTES // 3),
        "a" * MAX_BYTES,
        "a " * (MAX_BYTES // 2),
        "a" + "\t" * (MAX_BYTES - 1),
        "." * MAX_BYTES,
    ],
    ids=range(11),
)
def test_no_file_takes_the_square_of_its_length(
    tmp_path: Path, contents: str, takes_at_most: Callable[..., Any]
) -> None:
    """The first two would take minutes if they reached the reader."""

    def refused() -> None:
        with pytest.raises(SchemaError):
            read(tmp_path / "x", contents)

    takes_at_most(3, refused)


@pytest.mark.skipif(os.name != "posix", reason="a device of POSIX")
def test_a_device_without_an_end_is_not_read_to_the_end() -> None:
    with pytest.raises(SchemaError, match="at most"):
        read_toml("/dev/zero", lambda written: written)


# --- writing ------------------------------------------------------------------------------------

SIMPLE = (
    st.text()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
)
# Not st.recursive: hypothesis takes its strategies from a cache, and then warns, by chance.
FLAT = st.dictionaries(st.text(), SIMPLE | st.lists(SIMPLE, max_size=4), min_size=1, max_size=4)
NESTED = st.dictionaries(st.text(), FLAT, min_size=1, max_size=3)
TABLES = FLAT | NESTED | st.dictionaries(st.text(), FLAT | NESTED, min_size=1, max_size=3)


@pytest.mark.slow
@given(table=TABLES)
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, table: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "written.toml"
    write_toml(path, table)
    assert repr(tomllib.loads(path.read_text(encoding="utf-8"))) == repr(_values_first(table))


def _values_first(table: dict[str, Any]) -> dict[str, Any]:
    """In the order of the file."""
    values = {key: value for key, value in table.items() if not isinstance(value, dict)}
    tables = {key: _values_first(v) for key, v in table.items() if isinstance(v, dict)}
    return values | tables


def test_the_file_is_for_people(tmp_path: Path) -> None:
    path = tmp_path / "x"
    write_toml(path, {"classes": ["a", "b"], "features": {"x y": {"low": 0, "cuts": [0.5, 1e22]}}})
    expected = 'classes = ["a", "b"]\n\n[features."x y"]\nlow = 0\ncuts = [0.5, 1e+22]\n'
    assert path.read_text() == expected


@pytest.mark.slow
def test_a_long_list_is_written_in_no_time_and_one_too_long_is_refused(
    tmp_path: Path, takes_at_most: Callable[..., Any]
) -> None:
    path = tmp_path / "x"
    takes_at_most(3, lambda: write_toml(path, {"a": [f"c{n}" for n in range(50_000)]}))
    with pytest.raises(SchemaError, match="at most 100000 values"):
        write_toml(path, {"a": list(range(MAX_VALUES + 2))})
    assert path.read_text().startswith('a = [\n    "c0", "c1"')


def test_a_long_list_is_wrapped(tmp_path: Path) -> None:
    table = {"a": [f"caf\u00e9 {n}" for n in range(50)], "b": ["x" * 85], "c": ["x" * 150, "y"],
             "d": ["x" * 93]}  # fmt: skip
    text = toml_text(table)
    assert read(tmp_path / "x", text) == table
    lines = text.splitlines()
    assert [line for line in lines if len(line) > 100] == [f'    "{"x" * 150}",']
    assert max(len(line) for line in lines[:7]) > 85
    assert f'b = ["{"x" * 85}"]' in lines
    assert lines[-7:] == ["c = [", f'    "{"x" * 150}",', '    "y",', "]", "d = [",
                          f'    "{"x" * 93}",', "]"]  # fmt: skip


# --- comments -----------------------------------------------------------------------------------


def test_comments_stand_above_what_they_are_about() -> None:
    comments = {
        (): ["first", "", "second"],
        ("a",): ["the value"],
        ("t",): ["all tables"],
        ("t", "u"): ["the table"],
        ("t", "u", "b"): ["its value"],
        ("nowhere",): ["never seen"],
    }
    assert toml_text({"a": 1, "t": {"u": {"b": 2}, "v": {"c": 3}}}, comments) == (
        "# first\n#\n# second\n\n# the value\na = 1\n\n# all tables\n\n"
        "# the table\n[t.u]\n# its value\nb = 2\n\n[t.v]\nc = 3\n"
    )


@pytest.mark.slow
@given(table=TABLES, lines=st.lists(st.text(st.characters(codec="utf-8"))))
def test_no_comment_breaks_out(table: Any, lines: list[str]) -> None:
    comments = dict.fromkeys([(), *((key,) for key in table)], lines)
    text = toml_text(table, comments)
    assert repr(tomllib.loads(text)) == repr(_values_first(table))
    # Nor for a program that ends lines at other characters than TOML does.
    added = len(text.splitlines()) - len(toml_text(table).splitlines())
    assert added <= len(comments) * (len(lines) + 2)


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x85", "\u2028", "\x00"])
def test_what_could_end_a_comment_is_escaped(end: str) -> None:
    text = toml_text({"a": 1}, {(): [f"name{end}b = 2"]})
    assert tomllib.loads(text) == {"a": 1}
    assert len(text.splitlines()) == 3


def test_comments_count_for_the_size() -> None:
    with pytest.raises(SchemaError, match="at most"):
        toml_text({"a": 1}, {(): ["x" * MAX_BYTES]})
