"""The paper's table of related work, measured: what its methods guarantee, and what they reach."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from privatree.baselines import methods
from privatree.baselines.methods import Method, Training
from privatree.reproduction.datasets import names
from privatree.reproduction.rendering._figures import write_figure
from privatree.reproduction.rendering._summaries import frame_rows, summarise_scores
from privatree.reproduction.rendering._survey_figure import Point, survey_figure
from privatree.reproduction.rendering._table import Cell, Column, Row, Section, Table, write_table
from privatree.reproduction.rendering._wording import seconds_wording, share_wording
from privatree.reproduction.running._audited_claim import AUDITED_PAIRS, AuditedClaim
from privatree.reproduction.running._study import Reporter, Request, Study
from privatree.reproduction.running._tasks import (
    N_FOLDS,
    CrossValidated,
    load_task_dataset,
    suppress_task_warnings,
    task_number,
)
from privatree.reproduction.targets._scope import DEPTH, Scope, find_scope, method_caveats

if TYPE_CHECKING:
    import pandas as pd

EPSILONS = (0.01, 0.1, 1.0)
REPEATS = 5
RUNS = 100
"""Trainings on each table of an audit."""
CLAIM = 1.0
"""Epsilon of the audits, and of what is claimed and proved in the table."""
_FEW = 100
"""Records that are enough to read a privacy statement, which does not depend on them."""


class Features(NamedTuple):
    """What a method splits on, and its mechanisms, as in the paper's table."""

    kinds: str
    splitting: str
    labelling: str


_BOTH, _CATEGORIES, _NUMBERS = "both", "categories", "numbers"
_LAPLACE, _EXPONENTIAL, _RANDOM = "Laplace", "exponential", "random"
_FEATURES: Mapping[str, Features] = {
    "sulq-id3": Features(_CATEGORIES, "Gaussian", "Gaussian"),
    "private-rdt": Features(_BOTH, _RANDOM, _LAPLACE),
    "sulq-based-id3": Features(_BOTH, _LAPLACE, _LAPLACE),
    "diffpid3": Features(_CATEGORIES, _EXPONENTIAL, _LAPLACE),
    "diffp-c45": Features(_BOTH, _EXPONENTIAL, _LAPLACE),
    "diffgen": Features(_BOTH, _EXPONENTIAL, _LAPLACE),
    "dt-diff": Features(_BOTH, _EXPONENTIAL, _LAPLACE),
    "dprf": Features(_BOTH, _RANDOM, _LAPLACE),
    "dpdf": Features(_CATEGORIES, f"{_EXPONENTIAL}*", _LAPLACE),
    "rana": Features(_BOTH, _LAPLACE, _LAPLACE),
    "smooth-random": Features(_BOTH, _RANDOM, f"{_EXPONENTIAL}*"),
    "adiffp": Features(_CATEGORIES, _EXPONENTIAL, _LAPLACE),
    "dpgdf": Features(_CATEGORIES, "permute-and-flip", f"{_EXPONENTIAL}*"),
    "bdpt": Features(_BOTH, f"{_EXPONENTIAL}*", _LAPLACE),
    "train-single-tree": Features(_BOTH, _EXPONENTIAL, _LAPLACE),
    "random-tree": Features(_BOTH, _RANDOM, "permute-and-flip"),
    "privatree-paper": Features(_BOTH, "geometric", "permute-and-flip"),
    "privatree": Features(_BOTH, _EXPONENTIAL, _EXPONENTIAL),
}
_SINGLE = {"dprfmv": "dprf", "dprfta": "dprf"}


def reproduce_survey(request: Request, reporter: Reporter) -> list[Path]:
    """Cross-validate and audit all published methods; write a table and a figure.

    The fits are those of the target accuracy, which are not made again.
    """
    study = Study(request, reporter)
    scope = find_scope(study, names("uci"), methods.survey(), EPSILONS, REPEATS)
    can_draw = study.can_draw()
    fits = scope.tasks(CrossValidated, range(scope.repeats), range(N_FOLDS))
    cells = study.run("accuracy", fits)
    audits = [AuditedClaim(method.id, CLAIM, RUNS) for method in scope.methods if method.private]
    audited = study.run("survey", audits)
    proved = _proved_epsilons(scope)
    shared = _shared_datasets(scope)
    summary = summarise_scores(cells)
    means = _mean_accuracies(summary, shared)
    tidy = _survey_frame(scope, means, proved, audited, cells)
    table = _survey_table(scope, tidy, shared)
    folder = request.output / "survey"
    more = [_dataset_table(scope, summary)]
    written = [*write_table(folder, "survey", table, tidy, more=more)]
    if can_draw:
        points = {
            method.id: [
                Point(proved.get((method.id, epsilon), math.nan), means[method.id, epsilon])
                for epsilon in scope.epsilons
                if (method.id, epsilon) in means
            ]
            for method in scope.methods
        }
        written += write_figure(folder, "survey", survey_figure(points, scope.methods))
    return written


def _shared_datasets(scope: Scope) -> list[str]:
    """Return the datasets to which all methods apply; if there is none, all."""
    shared = [
        dataset.name
        for dataset in scope.found
        if all(method.applies_to(dataset.schema) for method in scope.methods)
    ]
    return shared or [dataset.name for dataset in scope.found]


def _proved_epsilons(scope: Scope) -> dict[tuple[str, float], float]:
    """Return the epsilon in the statement of each method, the largest of all datasets."""
    found: dict[tuple[str, float], float] = {}
    for dataset in scope.found:
        records = load_task_dataset(dataset.name, scope.study.request.data_dir)
        for method in scope.methods:
            if not method.private or not method.applies_to(dataset.schema):
                continue
            rows = method.encode(records.frame[:_FEW], records.schema)
            for epsilon in {CLAIM, *scope.epsilons}:
                learner = method.classifier(Training(records.schema, epsilon, DEPTH, 0))
                with suppress_task_warnings():
                    learner.fit(rows, records.labels[:_FEW])
                privacy = getattr(learner, "privacy_", None)
                bound = math.nan if privacy is None else privacy.epsilon
                key = method.id, epsilon
                found[key] = max(found.get(key, bound), bound)
    return found


def _mean_accuracies(
    summary: pd.DataFrame, shared: Sequence[str]
) -> dict[tuple[str, float], float]:
    """Return the mean over the shared datasets of each method's accuracy."""
    by_setting: dict[tuple[str, float], list[float]] = {}
    for row in frame_rows(summary):
        if row.dataset in shared and row.n:
            by_setting.setdefault((row.method, row.epsilon), []).append(row.mean)
    return {
        setting: sum(found) / len(found)
        for setting, found in by_setting.items()
        if len(found) == len(shared)
    }


def _survey_frame(
    scope: Scope,
    means: Mapping[tuple[str, float], float],
    proved: Mapping[tuple[str, float], float],
    audited: pd.DataFrame,
    cells: pd.DataFrame,
) -> pd.DataFrame:
    """Return one row for each method."""
    import pandas as pd

    notes = {row.method: row.note for row in frame_rows(audited[["method", "note"]])}
    rows = []
    for method in scope.methods:
        own = audited.loc[audited["method"] == method.id, list(AUDITED_PAIRS)].to_numpy(float)
        seconds = cells.loc[cells["method"] == method.id, "fit_seconds"].median()
        accuracies = {
            f"accuracy_{task_number(epsilon)}": means.get((method.id, epsilon), math.nan)
            for epsilon in scope.epsilons
        }
        rows.append(
            {
                "method": method.id,
                "claimed": CLAIM,
                "proved": proved.get((method.id, CLAIM), math.nan),
                "delta": method.delta,
                "audited": math.nan if np.isnan(own).all() else float(np.nanmax(own)),
                **accuracies,
                "fit_seconds": seconds,
                "note": notes.get(method.id, ""),
            }
        )
    return pd.DataFrame(rows)


def _survey_table(scope: Scope, tidy: pd.DataFrame, shared: Sequence[str]) -> Table:
    by_id: dict[str, Method] = {method.id: method for method in scope.methods}

    def row(found: Any) -> Row:
        method = by_id[found["method"]]
        single = _SINGLE.get(method.id, method.id.removesuffix("-forest"))
        features = _FEATURES.get(single, Features("", "", ""))
        refuted = found["audited"] > found["claimed"]
        cells = [
            *(Cell(text) for text in features),
            Cell(f"{found['claimed']:g}"),
            Cell(_epsilon_wording(found["proved"], found["delta"])),
            Cell(_bound_wording(found["audited"]), bold=refuted, footnote=found["note"]),
            *(
                Cell(share_wording(found[f"accuracy_{task_number(epsilon)}"]))
                for epsilon in scope.epsilons
            ),
            Cell(seconds_wording(found["fit_seconds"])),
        ]
        return Row((method.title,), cells)

    headings = ["features", "splitting", "labelling", "claimed ε", "proved ε", "audited ε ≥"]
    return Table(
        "Published methods",
        ("method",),
        [
            *(Column(heading) for heading in headings),
            *(Column(f"{epsilon:g}", "accuracy at claimed ε") for epsilon in scope.epsilons),
            Column("seconds"),
        ],
        [Section("", [row(found) for found in tidy.to_dict("records")])],
        (
            f"Depth {DEPTH}; in DiffGen and DT-Diff, {DEPTH} steps. Accuracy: mean over "
            f"{', '.join(shared)} of {scope.repeats} x {N_FOLDS}-fold cross-validation. Seconds: "
            "median of all fits.",
            "proved ε: for one record added or removed, the largest of all datasets; the proofs "
            "say for which reading of a paper it is. *: a sensitivity that depends on the records.",
            f"audited: the largest lower bound on the real ε at claimed ε {CLAIM:g}, with 99% "
            f"confidence, over six pairs of tables and {RUNS} trainings on each (for the pair lead "
            "ten times as many); bold: the claim is refuted. A bound below it proves nothing.",
            *method_caveats(scope.methods),
        ),
    )


def _dataset_table(scope: Scope, summary: pd.DataFrame) -> Table:
    """Return the accuracy on each dataset, with the figures of all epsilons in one cell."""
    found = {(row.method, row.dataset, row.epsilon): row for row in frame_rows(summary)}

    def cell(method: Method, dataset: str) -> Cell:
        rows = [found.get((method.id, dataset, epsilon)) for epsilon in scope.epsilons]
        if None in rows:
            return Cell("-")
        notes = [row.note for row in rows if row is not None and row.note]
        means = [share_wording(row.mean) for row in rows if row is not None]
        return Cell(" ".join(means), footnote="; ".join(notes))

    epsilons = ", ".join(f"{epsilon:g}" for epsilon in scope.epsilons)
    return Table(
        f"Accuracy at claimed ε {epsilons}",
        ("method",),
        [Column(dataset.name) for dataset in scope.found],
        [
            Section(
                "",
                [
                    Row((method.title,), [cell(method, dataset.name) for dataset in scope.found])
                    for method in scope.methods
                ],
            )
        ],
        ("Dash: the method does not apply to the dataset, which has no categories.",),
    )


def _epsilon_wording(epsilon: float, delta: float) -> str:
    if math.isnan(epsilon):
        return "-"
    text = "none" if math.isinf(epsilon) else f"{epsilon:.3g}"
    return f"{text} (δ {delta:g})" if delta else text


def _bound_wording(bound: float) -> str:
    return "-" if math.isnan(bound) else f"{math.floor(bound * 100) / 100:.2f}"
