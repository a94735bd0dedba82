"""Forecasts of made-up scores, so that a test need not train."""

from __future__ import annotations

import pytest

from privatree.forecast import _made_up, _trainings
from privatree.forecast._trainings import Repeat, Scores


class Trainings:
    """Stands in for the trainings: the scores follow from the table and the repeat."""

    def __init__(self) -> None:
        self.calls = []

    def __call__(self, table, setting, repeat):
        self.calls.append((table, repeat))
        plain = {"mushroom": 0.98, "nursery": 1.0}.get(table, 0.8 + 0.01 * repeat)
        lost = {"adult": 0.03, "breast-w": -0.01, "vote": 0.2, 0: 0.05, 1: 0.01}.get(table, 0.9)
        return Repeat(
            Scores(plain, plain + 0.05),
            tuple(
                Scores(plain - lost / epsilon, plain + 0.05 - 2 * lost / epsilon)
                for epsilon in setting.epsilons
            ),
        )


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache folder of the test's own."""
    monkeypatch.setenv("PRIVATREE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def two_tables(monkeypatch):
    """Only two of the made-up tables."""
    monkeypatch.setattr(_made_up, "N_TABLES", 2)


@pytest.fixture
def trainings(monkeypatch, two_tables):
    """Trainings that take no time, and a list of them."""
    made = Trainings()
    monkeypatch.setattr(_trainings, "train_once", made)
    return made
