"""Replacement of other libraries' errors, whose text can show a record, by errors of privatree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any, TypeVar

from privatree.errors import PrivatreeError

_Item = TypeVar("_Item")


def redact_errors(
    items: Iterator[_Item], caught: tuple[type[Exception], ...], error: Callable[[], PrivatreeError]
) -> Iterator[_Item]:
    """Yield the items of an iterator; raise `error()` in place of an exception in `caught`.

    The original exception is not even kept as the context. Errors of privatree and MemoryError are
    passed on. The iterator must not yield None.
    """
    with closing(_closable(items)) as rest:
        while (item := _next_or_redacted(rest, caught, error)) is not None:
            yield item


def _next_or_redacted(rest: Any, caught: tuple[type[Exception], ...], error: Any) -> Any:
    try:
        return next(rest, None)
    except (PrivatreeError, MemoryError):
        raise
    except caught:
        pass
    raise error()  # outside of the except block, so that it has no context


def _closable(items: Iterator[_Item]) -> Any:
    """Wrap an iterator, so that its resources are closed even if it is not read to the end."""
    yield from items
