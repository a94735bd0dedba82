"""Guaranteed accuracy against poisoned records, on adult and compas-two-years: the paper's figure.

Every method is drawn by the best bound for what is known of it, so that the comparison is fair,
and the paper's tree also by the paper's own bound, as published.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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
    Figures,
    Setting,
    columns,
    guarantees,
    notes,
)
from privatree.reproduction.rendering._summaries import rows_of, summarise
from privatree.reproduction.rendering._table import Row, Section, Table, write_table
from privatree.reproduction.rendering._wording import marked_title
from privatree.reproduction.running._certified_split import (
    CERTIFIED_SHARES,
    CertifiedSplit,
    measure,
)
from privatree.reproduction.running._study import Available, Reporter, Request, Study
from privatree.reproduction.running._tasks import RandomSplit, n_edits, shown_epsilon
from privatree.reproduction.targets._protocols import DEPTH, caveats, tasks

if TYPE_CHECKING:
    import pandas as pd

DATASETS = ("adult", "compas-two-years")
METHODS = (
    "decision-tree",
    "privatree-paper",
    "diffprivlib-tree",
    "random-tree",
    "privatree",
    "privatree-robust",
    "diffprivlib-logistic",
    "dpa",
)
EPSILONS = (0.01, 0.1)
REPEATS = 50
SHARES = tuple(Fraction(k, 8000) for k in range(81))
"""Shares of the training records: 0 to 1%, among them all that are certified."""
_IN_TABLE = (Fraction(1, 1000), Fraction(1, 400), Fraction(1, 200), Fraction(1, 100))
_CERTIFYING = "dpa"  # its guarantee is about each prediction, and needs no epsilon
_AS_PUBLISHED = Style("#0072B2", "", (1, 1.5))


def reproduce(request: Request, reporter: Reporter) -> list[Path]:
    """Train on random splits; guarantees from the mean accuracies, and certified ones."""
    study = Study(request, reporter)
    found = study.find_datasets(DATASETS)
    chosen = study.find_methods(METHODS)
    drawn = study.can_draw()
    epsilons = tuple(sorted(request.epsilons or EPSILONS))
    repeats = request.repeats or REPEATS
    frame = _measured(study, found, chosen, epsilons, repeats)
    folder = request.output / "poisoning-curve"
    table = _table(frame, found, chosen, epsilons, repeats)
    written = [*write_table(folder, "poisoning-curve", table, frame)]
    if drawn:
        figures = Figures(frame)
        panels = [
            _panel(figures, dataset, chosen, epsilon) for epsilon in epsilons for dataset in found
        ]
        claimed = any(method.claimed for method in chosen)
        explained = "\n(† as claimed; it does not hold)" if claimed else ""
        figure = line_figure(
            panels,
            x_label=f"% of training records poisoned{explained}",
            y_label="guaranteed accuracy",
            x_scale="linear",
            n_columns=len(found),
        )
        written += write_figure(folder, "poisoning-curve", figure)
    return written


def _measured(
    study: Study,
    found: Sequence[Available],
    chosen: Sequence[Method],
    epsilons: Sequence[float],
    repeats: int,
) -> pd.DataFrame:
    """Guarantees of all methods; certified splits have results of another form, so a file apart."""
    import pandas as pd

    asked = (study.request, found)
    others = [method for method in chosen if method.id != _CERTIFYING]
    certifying = [method for method in chosen if method.id == _CERTIFYING]
    plain = tasks(RandomSplit, *asked, others, epsilons, range(repeats))
    certified = tasks(CertifiedSplit, *asked, certifying, epsilons, range(repeats))
    frames = []
    if plain or not certified:
        summary = summarise(study.run("poisoning-curve", plain))
        frames.append(guarantees(summary, methods=chosen, found=found, shares=SHARES, depth=DEPTH))
    if certified:
        frames.append(_certified(study.run(f"poisoning-curve/{_CERTIFYING}", certified), found))
    return pd.concat(frames, ignore_index=True)


def _certified(cells: pd.DataFrame, found: Sequence[Available]) -> pd.DataFrame:
    """Mean certified accuracies, as rows of guarantees."""
    import pandas as pd

    sizes = {dataset.name: dataset.n_records for dataset in found}
    rows = [
        (*row[:3], ACCURACY, 0.0, 0, "", row.mean, row.standard_error, row.n, row.note)
        for row in rows_of(summarise(cells))
    ]
    for share in CERTIFIED_SHARES:
        for row in rows_of(summarise(cells, value=measure(share))):
            where = (float(share), n_edits(sizes[row.dataset], share), "")
            rows.append((*row[:3], BEST, *where, row.mean, row.standard_error, row.n, row.note))
    return pd.DataFrame(rows, columns=list(COLUMNS))


# --- figure -------------------------------------------------------------------------------------


def _panel(figures: Figures, dataset: Available, chosen: Sequence[Method], epsilon: float) -> Panel:
    curves, references = [], []
    for method in chosen:
        setting = _setting(dataset, method, epsilon)
        accuracy = figures.get(setting, ACCURACY)
        curve = _curve(figures, dataset, method, setting, BEST)
        if curve.x:
            curves.append(curve)
        elif accuracy is not None and accuracy.n:
            references.append(Reference(f"{method.title}, clean", accuracy.value))
        if method.id == "privatree-paper" and curve.x:
            curves.append(_curve(figures, dataset, method, setting, PAPER))
    edits = n_edits(dataset.n_records, SHARES[-1])
    one_percent = "1 record" if edits == 1 else f"{edits} records"
    title = f"{dataset.name}, ε = {epsilon:g} (1% = {one_percent})"
    return Panel(title, tuple(curves), tuple(references))


def _curve(
    figures: Figures, dataset: Available, method: Method, setting: Setting, figure: str
) -> Curve:
    """Points at whole records: shares between them are no others."""
    rows = [figures.get(setting, figure, share) for share in SHARES]
    points = {row.edits: row for row in rows if row is not None and row.n}
    one_percent = n_edits(dataset.n_records, Fraction(1)) / 100
    errors = [row.standard_error for row in points.values()]
    return Curve(
        method.id,
        marked_title(method) + (", bound A" if figure == PAPER else ""),
        [edits / one_percent for edits in points],
        [row.value for row in points.values()],
        () if figure == PAPER or any(map(math.isnan, errors)) else errors,
        _AS_PUBLISHED if figure == PAPER else None,
    )


def _setting(dataset: Available, method: Method, epsilon: float) -> Setting:
    """A method without privacy is the same at every epsilon."""
    return Setting(dataset.name, method.id, shown_epsilon(epsilon if method.private else None))


# --- table --------------------------------------------------------------------------------------


def _table(
    frame: pd.DataFrame,
    found: Sequence[Available],
    chosen: Sequence[Method],
    epsilons: Sequence[float],
    repeats: int,
) -> Table:
    figures = Figures(frame)

    def section(dataset: Available, epsilon: float) -> Section:
        edits = " / ".join(str(n_edits(dataset.n_records, share)) for share in _IN_TABLE)
        settings = [(method, _setting(dataset, method, epsilon)) for method in chosen]
        rows = [Row((marked_title(m),), figures.cells(at, _IN_TABLE)) for m, at in settings]
        return Section(f"{dataset.name}, ε = {epsilon:g} ({edits} edits)", rows)

    certifying = any(method.id == _CERTIFYING for method in chosen)
    return Table(
        "Accuracy guaranteed against the share of poisoned records",
        ("method",),
        columns(_IN_TABLE),
        [section(dataset, epsilon) for dataset in found for epsilon in epsilons],
        (
            f"Trees of depth {DEPTH}. Means over {repeats} stratified random splits, 80% for "
            "training; repeat r splits and trains with seed r. The paper prints a figure, by its "
            "own bound, and no numbers.",
            *notes(chosen, frame),
            *([_VOTES] if certifying else []),
            *caveats(chosen),
        ),
    )


_VOTES = (
    "DPA: the mean share of test records that are classified rightly whatever the edits; it is "
    "certain, not an expectation over noise, and needs no epsilon."
)
