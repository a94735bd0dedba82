"""Which net catches which mutant, at any of its cases, which pair of files which mutant of reading,
which net of units which mutant of weights, and which net of ensembles which mutant of them: four
tables in Markdown.

The tests run each mutant through the nets that must catch it; this runs all of them through all.
It takes some minutes::

    python benchmarks/mutant_matrix.py [learning|reading|weights|ensembles]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

_TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path += [str(_TESTS / folder) for folder in ("mutants", "audit", "statistical")]

import exact_nets  # noqa: E402
from nets import CASES  # noqa: E402
from nets import NETS as ALL_NETS  # noqa: E402
from reports import Report, worst  # noqa: E402

from mutants import (  # noqa: E402
    ENSEMBLE_MUTANTS,
    MUTANTS,
    READING_MUTANTS,
    SCORE_MUTANTS,
    WEIGHT_MUTANTS,
    Mutant,
)
from privatree.errors import BudgetExceededError  # noqa: E402

EXACT = ("loss", "stage", "decision", "ledger")
NETS_OF_UNITS = ("unit loss", "weights")
NETS_OF_ENSEMBLES = ("round", "ensemble loss", "ensemble delta", "ensemble ledger")
OTHER_NETS = (
    "files", "composition", "score loss", "holdout loss", *NETS_OF_UNITS, *NETS_OF_ENSEMBLES
)  # fmt: skip
NETS = {name: net for name, net in ALL_NETS.items() if name not in OTHER_NETS}
"""The nets whose input is records."""
NOTHING = Mutant("nothing", lambda patch: None, ())


def reports_of(mutant: Mutant) -> dict[str, Report | None]:
    """Return the worst report of each net; None if the ledger refused to run the mutant."""
    found: dict[str, Report | None] = {}
    with pytest.MonkeyPatch.context() as patch:
        mutant.apply(patch)
        by_case = [exact_nets.all_of(case) for case in exact_nets.CASES]
        by_net = {net: [reports[place] for reports in by_case] for place, net in enumerate(EXACT)}
        by_net["stage"] += [NETS["stage"](case) for case in exact_nets.SPLITS]
        for net, reports in by_net.items():
            found[net] = worst(reports)
        for net in [net for net in NETS if net not in EXACT]:
            try:
                found[net] = worst([NETS[net](case) for case in CASES[net]])
            except BudgetExceededError:
                found[net] = None
    return found


def cell(report: Report | None, must: bool) -> str:
    if report is None:
        return "refused"
    if not report.caught:
        return ""
    figure = f"{report.figure:.2f}" if report.net != "fit" else f"{report.figure:.0f}"
    return f"**{figure}**" if must else figure


def row(name: str, mutant: Mutant) -> str:
    must = {catch.net for catch in mutant.catches}
    cells = [cell(report, net in must) for net, report in reports_of(mutant).items()]
    return f"| {name} | {' | '.join(cells)} |"


def row_of_reading(name: str, mutant: Mutant) -> str:
    must = {catch.case for catch in mutant.catches}
    with pytest.MonkeyPatch.context() as patch:
        mutant.apply(patch)
        cells = [cell(ALL_NETS["files"](case), case in must) for case in CASES["files"]]
    return f"| {name} | {' | '.join(cells)} |"


def row_of_scores(name: str, mutant: Mutant) -> str:
    must = {catch.case for catch in mutant.catches}
    with pytest.MonkeyPatch.context() as patch:
        mutant.apply(patch)
        cells = [cell(ALL_NETS["score loss"](case), case in must) for case in CASES["score loss"]]
    return f"| {name} | {' | '.join(cells)} |"


def row_of_weights(name: str, mutant: Mutant) -> str:
    must = {catch.net for catch in mutant.catches}
    with pytest.MonkeyPatch.context() as patch:
        mutant.apply(patch)
        cells = [cell(ALL_NETS[net](), net in must) for net in NETS_OF_UNITS]
        of_person = ALL_NETS["black box"]("one-person")
        cells.append(cell(of_person, "black box" in must))
    return f"| {name} | {' | '.join(cells)} |"


def row_of_ensembles(name: str, mutant: Mutant) -> str:
    must = {catch.net for catch in mutant.catches}
    cells = []
    with pytest.MonkeyPatch.context() as patch:
        mutant.apply(patch)
        for net in NETS_OF_ENSEMBLES:
            try:
                report = ALL_NETS[net]()
            except BudgetExceededError:
                report = None
            cells.append(cell(report, net in must))
    return f"| {name} | {' | '.join(cells)} |"


def print_table(
    columns: Iterable[str], rows: Callable[[str, Mutant], str], mutants: dict[str, Mutant]
) -> None:
    print(f"| mutant | {' | '.join(columns)} |")
    print(f"| --- |{' --- |' * len(list(columns))}")
    for name, mutant in {"(none)": NOTHING, **mutants}.items():
        print(rows(name, mutant), flush=True)


def main() -> None:
    """Print all tables, or those that are named: learning, reading, weights, ensembles, scores."""
    asked = sys.argv[1:] or ["learning", "reading", "weights", "ensembles", "scores"]
    if "learning" in asked:
        print_table(NETS, row, MUTANTS)
    if "reading" in asked:
        print_table(CASES["files"], row_of_reading, READING_MUTANTS)
    if "weights" in asked:
        print_table((*NETS_OF_UNITS, "black box, one-person"), row_of_weights, WEIGHT_MUTANTS)
    if "ensembles" in asked:
        print_table(NETS_OF_ENSEMBLES, row_of_ensembles, ENSEMBLE_MUTANTS)
    if "scores" in asked:
        print_table(CASES["score loss"], row_of_scores, SCORE_MUTANTS)


if __name__ == "__main__":
    main()
