import pytest

from privatree.visible_text import visible, visible_line


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
    assert visible(text) == shown
    assert visible(text).isprintable()


def test_some_can_be_kept():
    assert visible("a\nb\x07", keep="\n") == "a\nb\\x07"


def test_a_line_is_one():
    assert visible_line(" a\n\tb  c\x1b") == r"a b c\x1b"
