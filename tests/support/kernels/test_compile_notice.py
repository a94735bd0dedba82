"""That something is compiled is said once, on stderr, to whoever waits."""

import sys

import pytest

from privatree._support.kernels import compile_notice
from privatree._support.kernels.compile_notice import LINE
from privatree._support.kernels.compiling import compiled


def function_of(module):
    """A function that is kept nowhere."""
    made = {"__name__": module}
    exec(compile("def double(number):\n    return 2 * number\n", "<nowhere>", "exec"), made)
    return compiled(made["double"])


@pytest.fixture
def said(monkeypatch, capsys):
    """Calls a function, a new one if none is given, and tells what is said on stderr."""
    monkeypatch.setattr(compile_notice, "_said", False)

    def call(function=None):
        assert (function or function_of("privatree.counting._counts"))(21) == 42
        printed = capsys.readouterr()
        assert printed.out == ""
        return printed.err

    return call


@pytest.mark.parametrize(("is_terminal", "line"), [(True, f"{LINE}\n"), (False, "")])
def test_it_is_said_on_a_terminal(monkeypatch, said, is_terminal, line):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    assert said() == line
    assert said() == "", "once is enough"


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_command_decides_it(monkeypatch, said, is_terminal):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    with compile_notice.compile_notice(False):
        assert said() == ""
    with compile_notice.compile_notice(True):
        assert said() == f"{LINE}\n"
        assert said() == ""


@pytest.mark.parametrize("module", ["somebody.elses", None])
def test_nothing_is_said_of_what_others_compile(said, module):
    with compile_notice.compile_notice(True):
        assert said(function_of(module)) == ""


def test_nothing_is_said_where_nothing_is_compiled(said):
    function = function_of("privatree.counting._counts")
    with compile_notice.compile_notice(False):
        said(function)
    with compile_notice.compile_notice(True):
        assert said(function) == ""


def test_nothing_is_said_by_processes_that_were_started_for_work(monkeypatch, said):
    class Worker:
        name = "LokyProcess-1"

    monkeypatch.setattr(compile_notice, "current_process", Worker)
    with compile_notice.compile_notice(True):
        assert said() == ""
