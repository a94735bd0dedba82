"""A forecast as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import mean
from textwrap import fill
from typing import TYPE_CHECKING

from privatree.forecast._setting import Setting

if TYPE_CHECKING:
    from privatree.forecast._result import Forecast, Loss, TableScores

_WIDTH = 88
LEARNER_NAMES = {"tree": "PrivaTreeClassifier", "boost": "PrivaBoostClassifier"}
PEER_NAMES = {
    "tree": "scikit-learn's tree of the same depth",
    "boost": "scikit-learn's boosted trees",
}
_MADE_UP = "made up"


def forecast_text(made: Forecast) -> str:
    """Return the forecast, what was measured on each table, and what it is worth."""
    parts = [_heading(made.setting), _expected_table(made), _measured_table(made), *_notes(made)]
    return "\n\n".join(parts)


def setting_text(setting: Setting) -> str:
    """Return the public facts that a forecast is for, such as "8,000 records, 2 classes"."""
    parts = [f"{setting.records:,} records", f"{setting.classes} classes"]
    if setting.majority_share is not None:
        parts[-1] += f", the most frequent with {setting.majority_share:.0%}"
    if setting.features is not None:
        parts.append(f"{setting.features} features")
    return ", ".join(parts)


def _heading(setting: Setting) -> str:
    return (
        f"What privacy will probably cost: {setting_text(setting)}\n"
        f"{LEARNER_NAMES[setting.model]} beside {PEER_NAMES[setting.model]}, without privacy"
    )


def _expected_table(made: Forecast) -> str:
    n_tables = sum(scores.counts for scores in made.tables) // len(made.setting.epsilons)
    lines = [
        f"{'':9}accuracy lost             AUC lost",
        f"epsilon  expected  least to most   expected  least to most   (on {n_tables} tables)",
    ]
    for each in made.expected:
        lines.append(f"{each.epsilon:<7g}  {_loss(each.accuracy)}   {_loss(each.auc)}".rstrip())
    return "\n".join(lines)


def _loss(loss: Loss) -> str:
    return f"{loss.mean:8.3f}  {f'{loss.lowest:.3f} to {loss.highest:.3f}':>15}"


def _measured_table(made: Forecast) -> str:
    lines = [
        "What it was measured on       accuracy                  AUC",
        f"{'':21}epsilon  without  with     lost   without  with     lost",
    ]
    for name, rows in _groups(made):
        for place, same_epsilon in enumerate(rows):
            shown = name if place == 0 else ""
            figures = [
                mean(getattr(scores, field) for scores in same_epsilon)
                for field in ("plain_accuracy", "accuracy", "plain_auc", "auc")
            ]
            plain, private, plain_auc, auc = figures
            lines.append(
                f"{shown:21}{same_epsilon[0].epsilon:<7g}  "
                f"{plain:7.3f}  {private:.3f}  {plain - private:7.3f}   "
                f"{plain_auc:7.3f}  {auc:.3f}  {plain_auc - auc:7.3f}"
            )
    return "\n".join(lines)


def _groups(made: Forecast) -> Iterator[tuple[str, Sequence[Sequence[TableScores]]]]:
    """Yield bundled datasets one by one, then all made-up tables: name, and rows by epsilon."""
    names = list(dict.fromkeys(scores.table for scores in made.tables if scores.bundled))
    for name in names:
        rows = [scores for scores in made.tables if scores.table == name]
        easy = "" if all(scores.counts for scores in rows) else " (*)"
        yield f"{name}{easy}", [[scores] for scores in rows]
    invented = [scores for scores in made.tables if not scores.bundled]
    n_tables = len(invented) // len(made.setting.epsilons)
    yield (
        f"{n_tables} made-up tables",
        [
            [scores for scores in invented if scores.epsilon == epsilon]
            for epsilon in made.setting.epsilons
        ],
    )


def _notes(made: Forecast) -> Iterator[str]:
    setting = made.setting
    if not all(scores.counts for scores in made.tables):
        yield fill(
            "(*) Not in the forecast: without privacy, accuracy and AUC are 0.98 or more. Records "
            "of people are hardly ever that easy.",
            _WIDTH,
        )
    if made.left_out:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in made.left_out.items())
        yield fill(f"Bundled datasets that were left out: {reasons}.", _WIDTH)
    if setting.majority_share is None:
        yield fill(
            "If the share of the most frequent class is public knowledge, name it (majority "
            "share): what privacy costs in AUC depends much on it.",
            _WIDTH,
        )
    yield fill(
        "This is a guide from other data. It read nothing of yours and costs no epsilon. Your cost "
        "can lie anywhere in the range, or even outside. A loss below 0 means that the private "
        "model was better.",
        _WIDTH,
    )
