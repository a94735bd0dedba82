"""The table of published methods: what is claimed, proved, audited and reached."""

import math

import numpy as np
import pytest

from privatree.baselines import methods
from privatree.reproduction.rendering._survey_figure import Point, survey_figure
from privatree.reproduction.running import Request
from privatree.reproduction.running._audited_claim import AUDITED_PAIRS, AuditedClaim
from privatree.reproduction.targets._survey import _FEATURES, _SINGLE

CHOSEN = ("diffpid3", "smooth-random")


def test_every_method_of_the_table_has_features_and_mechanisms():
    single = {_SINGLE.get(name, name.removesuffix("-forest")) for name in methods.survey()}
    assert single == set(_FEATURES)


@pytest.mark.slow
def test_a_small_audit_finds_what_it_should_and_nothing_else():
    found = {name: AuditedClaim(name, 1.0, 20).run() for name in ("dpdf", "diffpid3")}
    assert all(score.fit_seconds > 0 and math.isnan(score.accuracy) for score in found.values())
    bounds = {name: dict(zip(AUDITED_PAIRS, found[name].more, strict=True)) for name in found}
    assert bounds["dpdf"]["noisy-size"] > 0.1
    assert bounds["diffpid3"]["noisy-size"] == 0
    assert max(one for one in bounds["diffpid3"].values() if not math.isnan(one)) < 1.0
    assert math.isnan(bounds["dpdf"]["outlier"]) == math.isnan(bounds["diffpid3"]["outlier"])
    assert AuditedClaim("dpdf", 1.0, 20).key == ("dpdf", "1", "20")


@pytest.mark.slow
def test_the_table_has_what_is_proved_beside_what_is_claimed(reproduce, output, monkeypatch):
    monkeypatch.setattr("privatree.reproduction.targets._survey.RUNS", 8)
    request = Request(output, ("breast-w", "vote"), CHOSEN, (1.0,), 1, jobs=1)
    made = reproduce("survey", request)
    rows = {row["method"]: row for row in made.rows("survey.csv")}
    assert list(rows) == list(CHOSEN)
    proved = {name: round(float(row["proved"]), 1) for name, row in rows.items()}
    assert proved == {"diffpid3": 0.7, "smooth-random": 22.7}
    cells = made.request.output / "accuracy" / "cells.csv"
    scores = np.array([float(line.split(",")[6]) for line in cells.read_text().splitlines()[1:]])
    assert len(scores) == 5 * (2 + 1)  # breast-w has no categories
    row, on_datasets = made.markdown_rows("survey.md", "DiffPID3")
    assert row[1:6] == ["categories", "exponential", "Laplace", "1", "0.7"]
    assert on_datasets[1] == "-"
    assert on_datasets[2] == row[7]  # the mean over the only dataset that both take


def test_the_figure_has_hollow_points_at_the_edge_for_what_is_not_proved():
    listed = [methods.get(name) for name in ("bdpt", "diffpid3")]
    points = {
        "bdpt": [Point(math.inf, 0.5), Point(math.inf, 0.7)],
        "diffpid3": [Point(0.07, 0.5), Point(0.7, 0.8)],
    }
    (axes,) = survey_figure(points, listed).axes
    bdpt, diffpid3, *_ = axes.get_lines()
    assert set(bdpt.get_xdata()) == {2.8}
    assert bdpt.get_markerfacecolor() == "white"
    assert list(diffpid3.get_xdata()) == [0.07, 0.7]
