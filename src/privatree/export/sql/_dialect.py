"""What a database writes in its own way, and what it can hold.

A dialect has one task: that a condition is TRUE for the same values everywhere. So text is compared
as it is, where a database would by itself take ``a`` for ``A``, and a number is a literal that is
exactly the double it stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from privatree.errors import ParameterError


@dataclass(frozen=True)
class Dialect:
    """How a database writes and compares things.

    Parameters
    ----------
    title : str
        What the database is called, for messages.
    double_type : str
        The type of a double in CAST.
    double : callable
        A double as a literal that is read exactly.
    name : callable
        A name in quotes.
    texts : callable
        Texts as literals that can be results of one CASE.
    text_of, truth_of : str
        How a column is compared with texts and with booleans, ``{}`` in its place. Text must be
        compared byte by byte.
    truths : tuple of two sequences of str
        What False and True are, as literals to compare ``truth_of`` with.
    booleans : tuple of two str
        False and True as results.
    whole_type : str or None
        The type that a result of 64 bits must be cast to, if its digits have another.
    nan_is_largest : bool
        Whether NaN is greater than every number. Otherwise there is no NaN, or no comparison with
        it is TRUE.
    ignores_last_blanks : bool
        Whether texts that differ in blanks at their end are the same even so.
    min_positive : float
        The smallest positive double that a column can hold.
    column_key : callable
        Names with the same key are the same column.
    alias : callable
        What a column of the result can be called.
    max_parts : int
        How many parts the name of a table has at most.
    """

    title: str
    double_type: str
    double: Callable[[float], str]
    name: Callable[[str], str]
    texts: Callable[[Sequence[str]], list[str]]
    text_of: str = "{}"
    truth_of: str = "{}"
    truths: tuple[Sequence[str], Sequence[str]] = (("FALSE",), ("TRUE",))
    booleans: tuple[str, str] = ("FALSE", "TRUE")
    whole_type: str | None = None
    nan_is_largest: bool = False
    ignores_last_blanks: bool = False
    min_positive: float = 5e-324
    column_key: Callable[[str], object] = str.casefold
    alias: Callable[[str], str] = str
    max_parts: int = 3

    def quoted(self, name: str) -> str:
        """A name in quotes; one without a character, or with NUL, is a ParameterError."""
        if not name:
            raise ParameterError("SQL needs names of at least one character, got an empty one.")
        return self.name(_without_nul(name))

    def text_literals(self, texts: Sequence[str]) -> list[str]:
        """Texts as literals; one with NUL is a ParameterError."""
        return self.texts([_without_nul(text) for text in texts])

    def number_in(self, column: str) -> str:
        """What stands in a column, as a double."""
        return f"CAST({column} AS {self.double_type})"

    def typed_double(self, number: float) -> str:
        """A double as a result, of which the type matters too."""
        literal = self.double(number)
        return literal if literal.startswith("CAST") else f"CAST({literal} AS {self.double_type})"

    def holds(self, number: float) -> bool:
        """Whether a column can hold this double."""
        return number == 0 or abs(number) >= self.min_positive


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ParameterError(f"SQL cannot hold the character NUL, got it in {text!r}.")
    return text
