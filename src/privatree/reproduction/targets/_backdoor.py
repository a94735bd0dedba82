"""The paper's backdoor in the zeros and ones of MNIST: measured success rates, and bounds on them.

The attack is tried with two schemas. A learner that uses the schema clips each pixel to its range.
The trigger's pixels are black in all clean records. With the ranges of the records, clipping
removes the trigger. With the ranges 0 to 255, the learner sees the trigger.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privatree.baselines.methods import Method
from privatree.reproduction.datasets._dataset import Records
from privatree.reproduction.loading import _mnist as mnist
from privatree.reproduction.rendering._backdoor import (
    ACCURACY,
    PAPER_BOUND,
    SUCCESS,
    backdoor_figure,
    backdoor_mean_rates,
)
from privatree.reproduction.rendering._figures import write_figure
from privatree.reproduction.rendering._summaries import frame_rows
from privatree.reproduction.rendering._table import Cell, Column, Row, Section, Table, write_table
from privatree.reproduction.rendering._wording import dagger_wording, method_wording, share_wording
from privatree.reproduction.running._backdoor import SOURCE, Backdoor, paper_backdoor_attack
from privatree.reproduction.running._study import Available, Reporter, Request, Study
from privatree.reproduction.running._tasks import load_task_once, task_training
from privatree.reproduction.targets._scope import DEPTH, Scope
from privatree.schema import Numeric

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

METHODS = ("decision-tree", "privatree-paper", "privatree", "privatree-robust")
EPSILONS = (0.1, 0.01)
REPEATS = 50
STEPS = 10
"""Number of steps from no poisoned records to one percent of the training records."""

SCHEMAS = {mnist.NAME: "ranges of the records", mnist.FULL_RANGE_NAME: "every pixel 0 to 255"}
"""A description of the ranges of each dataset; the paper uses the first kind."""

_PUBLISHED = {
    ("decision-tree", None): ".995",
    ("privatree-paper", 0.1): ".987",
    ("privatree-paper", 0.01): ".974",
}
"""The paper's accuracies without poisoned records. The paper's figure shows no numbers."""


def reproduce_backdoor(request: Request, reporter: Reporter) -> list[Path]:
    """Poison random splits with more and more zeros; write accuracy, success rate and bounds."""
    study = Study(request, reporter)
    looked_for = [study.find_mnist_dataset(name) for name in SCHEMAS]
    found = [dataset for dataset in looked_for if dataset is not None]
    chosen = study.find_methods(METHODS)
    can_draw = study.can_draw()
    epsilons = tuple(request.epsilons or EPSILONS)
    repeats = request.repeats or REPEATS
    size = task_training(found[0].n_records) if found else 0  # both datasets have the same records
    counts = dict.fromkeys(backdoor_poison_counts(size))
    scope = Scope(study, found, chosen, epsilons, repeats)
    every = scope.tasks(Backdoor, counts, range(repeats))
    # Methods without privacy do not use the schema, so they are run on the first dataset only.
    fits = [fit for fit in every if fit.epsilon is not None or fit.dataset == found[0].name]
    cells = study.run("backdoor", fits)
    figures = backdoor_mean_rates(cells, methods=chosen, found=found, depth=DEPTH, n_training=size)
    folder = request.output / "backdoor"
    table = _backdoor_table(figures, chosen, _backdoor_target_notes(found, size, repeats))
    written = [*write_table(folder, "backdoor", table, figures)]
    if can_draw:
        records = load_task_once(found[0].name, request.data_dir, found[0].fingerprint)
        image = _backdoor_target_image(records).reshape(mnist.SHAPE)
        schemas = {dataset.name: SCHEMAS[dataset.name] for dataset in found}
        figure = backdoor_figure(figures, image, methods=chosen, epsilons=epsilons, schemas=schemas)
        written += write_figure(folder, "backdoor", figure)
    return written


def backdoor_poison_counts(size: int) -> list[int]:
    """Return how many records are added in each step: none to one percent, rounded."""
    return [round(size * step / (100 * STEPS)) for step in range(STEPS + 1)]


def _backdoor_target_image(records: Records) -> NDArray[Any]:
    """Return the pixels of the first zero, with the trigger."""
    first = records.frame[records.labels == SOURCE].iloc[:1]
    pixels: NDArray[Any] = paper_backdoor_attack(0).apply(first).to_numpy()[0]
    return pixels


# --- the table ----------------------------------------------------------------------------------


def _backdoor_table(figures: pd.DataFrame, chosen: Sequence[Method], notes: Sequence[str]) -> Table:
    """Return a table with a section for each setting and a row for each number of edits."""
    known = list(dict.fromkeys(figures["figure"]))
    letters = [letter for letter in known if letter not in (ACCURACY, SUCCESS)]
    titles = {method.id: method_wording(method) for method in chosen}
    sections = []
    for setting, group in groupby(frame_rows(figures), key=_backdoor_target_setting):
        dataset, method, epsilon = setting
        if epsilon is None:
            heading = f"Whatever the ranges: {titles[method]}"
        else:
            heading = (
                f"{_capitalised_for_backdoor(SCHEMAS[dataset])}: {titles[method]}, ε = {epsilon:g}"
            )
        rows = [
            _backdoor_row(list(of_row), letters, "" if poisoned else _backdoor_published(*setting))
            for poisoned, of_row in groupby(group, key=lambda row: row.poisoned)
        ]
        sections.append(Section(heading, rows))
    return Table(
        "Backdoor in MNIST 0 against 1",
        ("poisoned", "share"),
        (
            Column("accuracy"),
            Column("ASR"),
            *(Column(letter, "upper bounds on the ASR") for letter in letters),
        ),
        sections,
        (
            *notes,
            *dagger_wording(chosen, "A bound at such an epsilon does not hold either."),
            *(method.caveat for method in chosen if method.caveat),
        ),
    )


def _backdoor_target_setting(row: Any) -> tuple[str, str, float | None]:
    return row.dataset, row.method, None if math.isnan(row.epsilon) else row.epsilon


def _backdoor_published(dataset: str, method: str, epsilon: float | None) -> str:
    comparable = epsilon is None or dataset == mnist.NAME
    return _PUBLISHED.get((method, epsilon), "") if comparable else ""


def _capitalised_for_backdoor(words: str) -> str:
    return words[0].upper() + words[1:]


def _backdoor_row(figures: Sequence[Any], letters: Sequence[str], published: str) -> Row:
    by_figure = {row.figure: row for row in figures}
    accuracy, success = by_figure[ACCURACY], by_figure[SUCCESS]
    limits = {letter: by_figure[letter].value for letter in letters if letter in by_figure}
    least = min(limits.values(), default=None)
    cells = (
        Cell(
            share_wording(accuracy.value),
            share_wording(accuracy.standard_error),
            published,
            footnote=success.note,
        ),
        Cell(share_wording(success.value), share_wording(success.standard_error)),
        *(
            Cell(share_wording(limits[letter]), bold=limits[letter] == least)
            if letter in limits
            else Cell("-")
            for letter in letters
        ),
    )
    return Row((f"{success.poisoned}", f"{100 * success.share:.1f}%"), cells)


def _backdoor_target_notes(found: Sequence[Available], size: int, repeats: int) -> list[str]:
    return [
        *(_backdoor_target_schema_note(dataset) for dataset in found),
        "Methods without privacy do not use the schema and see the trigger; they are run once.",
        f"Trees of depth {DEPTH}. Means and standard errors over {repeats} stratified random "
        f"splits, {size:,} records (80%) for training; repeat r splits, poisons and trains with "
        "seed r.",
        "Poisoned: copies of training zeros with four white pixels at the bottom right and the "
        "label 1, added. ASR, attack success rate: the share of the test zeros that are taken for "
        "ones once they have these pixels. Accuracy is that on clean test records.",
        f"Bounds: plug-in estimates from the mean ASR without poison, without a confidence claim. "
        f"{PAPER_BOUND}: the paper's Corollary 3. The others need our learner's schedule, or are "
        "for any learner (B, AB*). Bold: the lowest. Dash: none.",
        "The paper prints accuracies without poison, and a figure of the ASR.",
    ]


def _backdoor_target_schema_note(dataset: Available) -> str:
    """Describe the ranges of a dataset, and whether a learner can see the trigger."""
    features = list(dataset.schema.features.values())
    ranges = [feature for feature in features if isinstance(feature, Numeric)]
    seen = any(ranges[place].high > 0 for place in paper_backdoor_attack(0).trigger)
    if dataset.name == mnist.FULL_RANGE_NAME:
        what = "all pixels have this range, whatever the records are"
    else:
        what = "each pixel has its range in all clean records, declared public, as in the paper"
    fate = (
        "The trigger's pixels can differ from 0, so learners see the trigger and can learn it."
        if seen
        else "The trigger's pixels are 0 in all clean records, so 0 is their whole range, and "
        "learners that use the schema clip the trigger's 255 to 0, in training and in prediction. "
        "So the trigger cannot be learned: the added records are only zeros with a wrong label."
    )
    return f"{_capitalised_for_backdoor(SCHEMAS[dataset.name])} ({dataset.name}): {what}. {fate}"
