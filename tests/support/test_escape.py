import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privatree._support.escape import escape_json, escape_text, escape_to_one_line, escape_toml


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("age", "age"),
        ("Größe ≤ 5", "Größe ≤ 5"),
        ("a\x1b[8mb", r"a\x1b[8mb"),
        ("a\x07", r"a\x07"),
        ("a\u202eb", r"a\u202eb"),
        ("a\nb", r"a\nb"),
        ("", ""),
    ],
)
def test_what_nobody_sees_is_written_out(text, shown):
    assert escape_text(text) == shown
    assert escape_text(text).isprintable()


def test_some_can_be_kept():
    assert escape_text("a\nb\x07", keep="\n") == "a\nb\\x07"


def test_a_line_is_one():
    assert escape_to_one_line(" a\n\tb  c\x1b") == r"a b c\x1b"


TEXTS = st.text(
    st.characters(codec="utf-8") | st.sampled_from("\x1b\x7f\x9b\u202e\u200b\U000e0041")
)


@pytest.mark.slow
@given(st.dictionaries(TEXTS, TEXTS | st.lists(TEXTS)))
def test_json_and_toml_mean_the_same(value):
    written = json.dumps(value, indent=1, ensure_ascii=False)
    shown = escape_json(written)
    assert shown.replace("\n", "").isprintable()
    assert json.loads(shown) == value
    # A text of JSON is one of TOML, but for DEL, and for what is beyond 16 bits if escaped.
    lines = [f"{json.dumps(k, ensure_ascii=False)} = {json.dumps(v, ensure_ascii=False)}"
             for k, v in value.items()]  # fmt: skip
    toml = escape_toml("\n".join(lines))
    assert toml.replace("\n", "").isprintable()
    assert tomllib.loads(toml) == value
