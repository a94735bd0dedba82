"""The bar of a pass: rounded to two digits, and only on a terminal."""

import sys

import pytest

from privatree.errors import ParameterError
from privatree.sources._source import round_pass_progress, show_pass_progress


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0, "fewer than 1,000"),
        (57, "fewer than 1,000"),
        (999, "fewer than 1,000"),
        (1234, "1,200"),
        (99_999, "100,000"),
        (1_234_567, "1.2 million"),
        (999_999, "1 million"),
        (43_210_000, "43 million"),
        (9_876_543_210, "9.9 billion"),
    ],
)
def test_numbers_are_rounded(number, shown):
    assert round_pass_progress(number) == shown


def test_nothing_is_shown_where_there_is_no_terminal(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with show_pass_progress(1, 5000, None) as advance:
        advance(4321)
    assert capsys.readouterr().err == ""
    with show_pass_progress(2, 5000, True) as advance:
        advance(4321)
    printed = capsys.readouterr().err
    assert "4321" not in printed
    assert "5000" not in printed


def test_on_a_terminal_without_rich_there_is_no_bar_unless_it_must_be(monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setitem(sys.modules, "rich", None)
    with show_pass_progress(1, None, None) as advance:
        advance(4321)
    with (
        pytest.raises(ParameterError, match="progress bars need rich"),
        show_pass_progress(1, None, True),
    ):
        pytest.fail("work began")
