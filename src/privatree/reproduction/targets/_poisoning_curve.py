"""The paper's figure of guaranteed accuracy against poisoned records, for two datasets.

Each method has a curve of the best bound that is known for it, so that the comparison is fair. The
paper's tree also has a curve of the paper's own bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from privatree.baselines.methods import Method
from privatree.reproduction.rendering._figures import (
    Curve,
    Panel,
    Reference,
    Style,
    line_figure,
    write_figure,
)
from privatree.reproduction.rendering._guarantees import (
    ACCURACY,
    BEST,
    COLUMNS,
    PAPER,
    GuaranteeLookup,
    Setting,
    compute_guarantees,
    guarantee_columns,
    guarantee_notes,
)
from privatree.reproduction.rendering._summaries import frame_rows, summarise_scores
from privatree.reproduction.rendering._table import Row, Section, Table, write_table
from privatree.reproduction.rendering._wording import method_wording
from privatree.reproduction.running._certified_split import (
    CERTIFIED_SHARES,
    CertifiedSplit,
    certified_accuracy_column,
)
from privatree.reproduction.running._study import Available, Reporter, Request, Study
from privatree.reproduction.running._tasks import RandomSplit, task_edits, task_number
from privatree.reproduction.targets._scope import DEPTH, Scope, find_scope, method_caveats

if TYPE_CHECKING:
    import pandas as pd

DATASETS = ("adult", "compas-two-years")
METHODS = (
    *("decision-tree", "privatree-paper", "diffprivlib-tree", "random-tree"),
    *("privatree", "privatree-robust", "diffprivlib-logistic", "dpa"),
)
EPSILONS = (0.01, 0.1)
REPEATS = 50
SHARES = tuple(Fraction(k, 8000) for k in range(81))
"""Shares of the training records: 0 to 1%, with all ``CERTIFIED_SHARES`` among them."""
_IN_TABLE = (Fraction(1, 1000), Fraction(1, 400), Fraction(1, 200), Fraction(1, 100))
_CERTIFYING = "dpa"  # this method certifies each prediction, without an epsilon
_AS_PUBLISHED = Style("#0072B2", "", (1, 1.5))


def reproduce_poisoning_curve(request: Request, reporter: Reporter) -> list[Path]:
    """Train on random splits, and draw curves of guaranteed and certified accuracy."""
    study = Study(request, reporter)
    scope = find_scope(study, DATASETS, METHODS, EPSILONS, REPEATS)
    scope = replace(scope, epsilons=sorted(scope.epsilons))
    can_draw = study.can_draw()
    frame = _run_poisoning_curve(scope)
    folder = request.output / "poisoning-curve"
    written = [*write_table(folder, "poisoning-curve", _poisoning_curve_table(frame, scope), frame)]
    if can_draw:
        figures = GuaranteeLookup(frame)
        panels = [
            _poisoning_curve_panel(figures, dataset, scope.methods, epsilon)
            for epsilon in scope.epsilons
            for dataset in scope.found
        ]
        claimed = any(method.claimed for method in scope.methods)
        explained = "\n(† as claimed; it does not hold)" if claimed else ""
        figure = line_figure(
            panels,
            x_label=f"% of training records poisoned{explained}",
            y_label="guaranteed accuracy",
            x_scale="linear",
            n_columns=len(scope.found),
        )
        written += write_figure(folder, "poisoning-curve", figure)
    return written


def _run_poisoning_curve(scope: Scope) -> pd.DataFrame:
    """Run the tasks, and return the guarantees of all methods.

    Certified splits have other result columns, so they have a results file of their own.
    """
    import pandas as pd

    repeats = range(scope.repeats)
    others = [method for method in scope.methods if method.id != _CERTIFYING]
    certifying = [method for method in scope.methods if method.id == _CERTIFYING]
    plain = scope.tasks(RandomSplit, repeats, methods=others)
    certified = scope.tasks(CertifiedSplit, repeats, methods=certifying)
    frames = []
    if plain or not certified:
        summary = summarise_scores(scope.study.run("poisoning-curve", plain))
        frames.append(
            compute_guarantees(
                summary, methods=scope.methods, found=scope.found, shares=SHARES, depth=DEPTH
            )
        )
    if certified:
        cells = scope.study.run(f"poisoning-curve/{_CERTIFYING}", certified)
        frames.append(_poisoning_curve_certified(cells, scope.found))
    return pd.concat(frames, ignore_index=True)


def _poisoning_curve_certified(cells: pd.DataFrame, found: Sequence[Available]) -> pd.DataFrame:
    """Return the mean certified accuracies as rows of guarantees."""
    import pandas as pd

    sizes = {dataset.name: dataset.n_records for dataset in found}
    rows = [
        (*row[:3], ACCURACY, 0.0, 0, "", row.mean, row.standard_error, row.n, row.note)
        for row in frame_rows(summarise_scores(cells))
    ]
    for share in CERTIFIED_SHARES:
        for row in frame_rows(summarise_scores(cells, value=certified_accuracy_column(share))):
            where = (float(share), task_edits(sizes[row.dataset], share), "")
            rows.append((*row[:3], BEST, *where, row.mean, row.standard_error, row.n, row.note))
    return pd.DataFrame(rows, columns=list(COLUMNS))


# --- figure -------------------------------------------------------------------------------------


def _poisoning_curve_panel(
    figures: GuaranteeLookup, dataset: Available, methods: Sequence[Method], epsilon: float
) -> Panel:
    curves, references = [], []
    for method in methods:
        setting = _poisoned_setting(dataset, method, epsilon)
        accuracy = figures.get(setting, ACCURACY)
        curve = _poisoning_curve_line(figures, dataset, method, setting, BEST)
        if curve.x:
            curves.append(curve)
        elif accuracy is not None and accuracy.n:
            references.append(Reference(f"{method.title}, clean", accuracy.value))
        if method.id == "privatree-paper" and curve.x:
            curves.append(_poisoning_curve_line(figures, dataset, method, setting, PAPER))
    edits = task_edits(dataset.n_records, SHARES[-1])
    one_percent = "1 record" if edits == 1 else f"{edits} records"
    title = f"{dataset.name}, ε = {epsilon:g} (1% = {one_percent})"
    return Panel(title, tuple(curves), tuple(references))


def _poisoning_curve_line(
    figures: GuaranteeLookup, dataset: Available, method: Method, setting: Setting, figure: str
) -> Curve:
    """Return the curve of one figure, with one point for each number of poisoned records."""
    rows = [figures.get(setting, figure, share) for share in SHARES]
    points = {row.edits: row for row in rows if row is not None and row.n}
    one_percent = task_edits(dataset.n_records, Fraction(1)) / 100
    errors = [row.standard_error for row in points.values()]
    return Curve(
        method.id,
        method_wording(method) + (", bound A" if figure == PAPER else ""),
        [edits / one_percent for edits in points],
        [row.value for row in points.values()],
        () if figure == PAPER or any(map(math.isnan, errors)) else errors,
        _AS_PUBLISHED if figure == PAPER else None,
    )


def _poisoned_setting(dataset: Available, method: Method, epsilon: float) -> Setting:
    """Return the setting of a method; without privacy, it is the same at every epsilon."""
    return Setting(dataset.name, method.id, task_number(epsilon if method.private else None))


# --- table --------------------------------------------------------------------------------------


def _poisoning_curve_table(frame: pd.DataFrame, scope: Scope) -> Table:
    figures = GuaranteeLookup(frame)

    def section(dataset: Available, epsilon: float) -> Section:
        edits = " / ".join(str(task_edits(dataset.n_records, share)) for share in _IN_TABLE)
        settings = [
            (method, _poisoned_setting(dataset, method, epsilon)) for method in scope.methods
        ]
        rows = [Row((method_wording(m),), figures.cells(at, _IN_TABLE)) for m, at in settings]
        return Section(f"{dataset.name}, ε = {epsilon:g} ({edits} edits)", rows)

    certifying = any(method.id == _CERTIFYING for method in scope.methods)
    return Table(
        "Accuracy guaranteed against the share of poisoned records",
        ("method",),
        guarantee_columns(_IN_TABLE),
        [section(dataset, epsilon) for dataset in scope.found for epsilon in scope.epsilons],
        (
            f"Trees of depth {DEPTH}. Means over {scope.repeats} stratified random splits, 80% for "
            "training; repeat r splits and trains with seed r. The paper prints a figure, by its "
            "own bound, and no numbers.",
            *guarantee_notes(scope.methods, frame),
            *([_VOTES] if certifying else []),
            *method_caveats(scope.methods),
        ),
    )


_VOTES = (
    "DPA: the mean share of test records that are classified rightly whatever the edits; it is "
    "certain, not an expectation over noise, and needs no epsilon."
)
