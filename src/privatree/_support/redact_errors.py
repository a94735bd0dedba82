"""Errors of other libraries while records are read: their text can show a record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any, TypeVar

from privatree.errors import PrivatreeError

_Item = TypeVar("_Item")


def redact_errors(
    items: Iterator[_Item], caught: tuple[type[Exception], ...], error: Callable[[], PrivatreeError]
) -> Iterator[_Item]:
    """Pass on what an iterator gives; what it raises becomes an error of ours.

    Parameters
    ----------
    items : iterator
        It gives no None.
    caught : tuple of type
        Which errors. Those of ours and a lack of memory are passed on in any case.
    error : callable
        Makes the error to raise instead. The one caught is not even kept as its context.
    """
    with closing(_generator(items)) as rest:
        while (item := _next(rest, caught, error)) is not None:
            yield item


def _next(rest: Any, caught: tuple[type[Exception], ...], error: Any) -> Any:
    try:
        return next(rest, None)
    except (PrivatreeError, MemoryError):
        raise
    except caught:
        pass
    raise error()


def _generator(items: Iterator[_Item]) -> Any:
    """So that what is being read is closed even if it is not read to its end."""
    yield from items
