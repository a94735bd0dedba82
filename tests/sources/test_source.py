"""The bar of a pass, rounded to two digits, and only on a terminal; passes that fail."""

import sys
from dataclasses import replace

import pytest
from batches_in_memory import FrameBatches
from mixed_records import schema_of, some_records

from privatree.counting import Binner, Candidates
from privatree.errors import ParameterError
from privatree.sources._pass_progress import round_pass_progress, show_pass_progress
from privatree.tables import open_labels


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


@pytest.mark.parametrize("failing", [1, 2])
def test_a_source_that_cannot_be_counted_is_closed(failing):
    """In the pass over units, or in the first that counts."""
    frame, labels = some_records(20, 2, 0)
    closed = []

    class Failing(FrameBatches):
        def _make_pass(self, query, advance):
            if self.n_passes == failing:
                raise ParameterError("no more records")
            return super()._make_pass(query, advance)

        def _read_part(self, part):
            for batch in super()._read_part(part):
                yield replace(batch, unit=open_labels([*range(batch.n_rows)]).columns[0])

        def close(self):
            closed.append(self.n_passes)

    source = Failing(frame, labels, 5)
    source.unit = "who"
    schema = schema_of(2)
    source.open(schema)
    found = Candidates.from_schema(schema, 4)
    with pytest.raises(ParameterError, match="no more records"):
        source.counts(Binner(schema, found.cuts, found.groups, found.n_codes))
    assert closed == [failing]
