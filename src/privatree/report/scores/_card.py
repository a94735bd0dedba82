"""The section of the card on quality."""

from __future__ import annotations

from privatree.report._card_text import card_bullets, escape_card_markdown
from privatree.report.scores._section import check_scores
from privatree.schema import Schema


def scores_card(scores: object, schema: Schema) -> str:
    """Return the section with all metrics as a table, and what they mean."""
    checked = check_scores(scores, schema)
    lines = ["| | estimate | 95% interval |", "| --- | --- | --- |"]
    for score in checked:
        cells = (checked.title_of(score), *score.shown)
        lines.append(f"| {' | '.join(map(escape_card_markdown, cells))} |")
    table = "\n".join(lines)
    return (
        f"## How good is it\n\nScored with differential privacy on {checked.size_text}.\n\n"
        f"{table}\n\n{card_bullets(checked.meaning)}"
    )
