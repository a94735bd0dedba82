import sys

import pytest

from privatree import ParameterError
from privatree._support.progress import progress_bar


def test_the_bar_counts_what_is_done_on_stderr(capsys):
    with progress_bar(7, True, "trainings") as advance:
        advance(3)
        advance(4)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "trainings" in shown.err
    assert "7/7" in shown.err


def stopped_halfway():
    with progress_bar(7, True, "trainings") as advance:
        advance(3)
        raise KeyError("stopped")


def test_what_is_not_done_is_not_said_to_be(capsys):
    with pytest.raises(KeyError, match="stopped"):
        stopped_halfway()
    shown = capsys.readouterr().err
    assert "3/7" in shown
    assert "7/7" not in shown


@pytest.mark.parametrize("shown", [None, False])
def test_there_is_none_where_stderr_is_no_terminal_or_nobody_wants_it(shown, capsys):
    with progress_bar(2, shown, "refits") as advance:
        advance(2)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("shown", ["yes", 1, 0])
def test_anything_else_is_refused_before_work_begins(shown):
    with (
        pytest.raises(ParameterError, match=f"progress must be True, False or None, got {shown!r}"),
        progress_bar(1, shown, "refits"),
    ):
        pytest.fail("work began")


def test_without_rich_there_is_no_bar_unless_it_must_be(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich", None)
    with progress_bar(2, None, "refits") as advance:
        advance(2)
    with pytest.raises(ParameterError, match="progress bars need rich"), progress_bar(2, True, ""):
        pytest.fail("work began")
