"""The sections of a card that only a tree has."""

from __future__ import annotations

from privatree.export import export_text
from privatree.model import TreeRelease
from privatree.report._card_text import CardParts, card_bullets, card_code, escape_card_markdown
from privatree.report.tree._tree_page import MAX_RULES, TreeParts, tree_page

_MAX_TREE_LENGTH = 50_000
"""A tree whose text has more characters is left out of the card."""
_NO_TREE = "Too large for this card: `privatree export MODEL --format text` draws it."
_NO_RULES = f"Too many for this card, which has up to {MAX_RULES}."
_NOT_COUNTED = "Records per leaf were not counted."


def tree_card(released: TreeRelease) -> CardParts:
    """Return what only the card of a tree has."""
    page = tree_page(released)
    own: TreeParts = page.own
    text = export_text(own.tree)
    rules = card_bullets(
        f"{rule.condition}{rule.answer} {rule.support}".strip() for rule in own.rules
    )
    leaves = "1 leaf" if own.tree.n_leaves == 1 else f"{own.tree.n_leaves:,} leaves"
    levels = "1 level" if own.tree.depth == 1 else f"{own.tree.depth:,} levels"
    return CardParts(
        summary=page.summary,
        tag="decision-tree",
        kind="A decision tree",
        size=f"It has {leaves} and {levels} of questions.",
        sections=(
            f"## Tree\n\n{card_code('text', text) if len(text) <= _MAX_TREE_LENGTH else _NO_TREE}",
            _counts_text(own, released),
            f"## Rules\n\n{rules or _NO_RULES}",
        ),
    )


def _counts_text(own: TreeParts, released: TreeRelease) -> str:
    """Say what the numbers of the leaves are."""
    if own.tree.support is None:
        return _NOT_COUNTED
    words = released.privacy_.words
    counted = (
        f"Numbers of {words.counted} are noisy: the noise is larger than the number after ± with a "
        f"probability of 5%. A leaf with few or no {words.counted} has no more than noise "
        f"explains: do not rely on it. {escape_card_markdown(words.definition)}"
    )
    return counted.rstrip()
