"""Markdown for the card, and what a tree or an ensemble puts into it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from privatree.report._summary import ModelSummary

_NEEDS_BACKSLASH = re.compile(r"([\\*_\[\]{}#$~])")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;", "`": "&#96;"}


@dataclass(frozen=True)
class CardParts:
    """What only the card of a tree or an ensemble has.

    `tag` says for a registry what kind of model it is, `kind` says it in a title, and `size` are
    sentences on the size of the model. `sections` follow the intended use.
    """

    summary: ModelSummary
    tag: str
    kind: str
    size: str
    sections: tuple[str, ...]


def escape_card_markdown(text: str) -> str:
    """Escape a text so that Markdown shows it unchanged and on one line."""
    line = _NEEDS_BACKSLASH.sub(r"\\\1", " ".join(text.split()))  # before entities, which have a #
    return (
        re.sub(r"[&<>|`]", lambda found: _ENTITIES[found.group()], line)
        .replace("://", "&#58;//")
        .replace("@", "&#64;")
        .replace("www.", "www&#46;")
    )


def card_bullets(texts: Iterable[str]) -> str:
    return "\n".join(f"- {escape_card_markdown(text)}" for text in texts)


def card_code(kind: str, text: str) -> str:
    """Return a Markdown code block, with a fence longer than every fence in the code."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{kind}\n{text}\n{fence}"
