"""The paper's figures: a sample of every kind of cell, and that nothing is missing."""

import math

import pytest

from privatree.reproduction import _published as published
from privatree.reproduction._published import EPSILONS, METHODS, Published

CATEGORICAL = {
    *("albert", "compas-two-years", "covertype-mixed", "default-of-credit-card-clients-mixed"),
    *("electricity-mixed", "eye_movements-mixed", "road-safety", "adult", "mushroom", "nursery"),
    "vote",
}
NUMERICAL = {
    *("Bioresponse", "Diabetes130US", "Higgs", "MagicTelescope", "MiniBooNE", "bank-marketing"),
    *("california", "covertype", "credit", "default-of-credit-card-clients", "electricity"),
    *("eye_movements", "heloc", "house_16H", "jannis", "pol", "breast-w", "diabetes"),
}
DATASETS = sorted(CATEGORICAL | NUMERICAL)


@pytest.mark.parametrize(
    ("dataset", "method", "epsilon", "mean", "standard_error"),
    [
        ("adult", "privatree-paper", 0.1, 0.820, 0.003),
        ("adult", "privatree-star", 0.1, 0.815, 0.001),
        ("Bioresponse", "bdpt", 0.01, 0.497, 0.001),
        ("vote", "privatree-paper", 1, 0.944, 0.022),
        ("breast-w", "privatree-paper", 0.01, 0.331, 0.143),
        ("nursery", "privatree-star", 0.1, 1.0, 0.0),
        ("covertype", "privatree-paper", 0.1, 0.748, 0.001),
        ("covertype-mixed", "privatree-paper", 0.1, 0.755, 0.001),
        ("eye_movements-mixed", "dpgdf", 0.01, 0.483, 0.010),
        ("house_16H", "diffprivlib-tree", 1, 0.595, 0.031),
    ],
)
def test_accuracy(dataset, method, epsilon, mean, standard_error):
    assert published.accuracy(dataset, method, epsilon) == Published(mean, standard_error)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1, 0.5, math.nan])
def test_the_tree_without_privacy_has_one_accuracy(epsilon):
    assert published.accuracy("pol", "decision-tree", epsilon) == Published(0.930, 0.001)


@pytest.mark.parametrize(
    ("dataset", "method", "epsilon"),
    [
        ("Higgs", "bdpt", 0.1),  # timeout
        ("pol", "dpgdf", 0.1),  # does not apply
        ("adult", "privatree", 0.1),  # not the paper's
        ("iris", "bdpt", 0.1),
        ("adult", "bdpt", 0.5),
        ("adult", "bdpt", math.nan),
    ],
)
def test_accuracy_that_was_not_published(dataset, method, epsilon):
    assert published.accuracy(dataset, method, epsilon) is None


def test_marks():
    assert published.mark("Higgs", "bdpt", 1) == "timeout"
    assert published.mark("pol", "dpgdf", 1) == "-"
    assert published.mark("adult", "dpgdf", 1) == ""
    assert published.mark("adult", "privatree", 1) == ""


@pytest.mark.parametrize("dataset", DATASETS)
def test_every_cell_is_there_and_plausible(dataset):
    for method in METHODS:
        for epsilon in EPSILONS:
            figure = published.accuracy(dataset, method, epsilon)
            if method == "dpgdf" and dataset in NUMERICAL:
                expected = "-"
            elif (dataset, method) == ("Higgs", "bdpt"):
                expected = "timeout"
            else:
                assert figure is not None
                assert 0.3 < figure.mean <= 1
                assert 0 <= figure.standard_error < 0.2
                continue
            assert figure is None
            assert published.mark(dataset, method, epsilon) == expected
        has_runtime = published.runtime(dataset, method, 0.1) is not None
        assert has_runtime == (method != "dpgdf" or dataset in CATEGORICAL)


def test_runtime():
    exact = published.runtime("MiniBooNE", "bdpt", 0.1)
    assert (exact.seconds, exact.standard_error, exact.bound, exact.text) == (213, 48, "", "213")
    below = published.runtime("adult", "decision-tree", 0.1)
    assert (below.seconds, below.standard_error, below.bound, below.text) == (1, 0, "<", "<1")
    above = published.runtime("Higgs", "bdpt", 0.1)
    assert (above.seconds, above.bound, above.text) == (7200, ">", ">7200")
    assert math.isnan(above.standard_error)
    assert published.runtime("pol", "dpgdf", 0.1) is None
    assert published.runtime("adult", "privatree", 0.1) is None


@pytest.mark.parametrize("epsilon", [0.01, 1.0, math.nan])
def test_runtimes_were_published_at_one_epsilon_only(epsilon):
    assert published.runtime("MiniBooNE", "bdpt", 0.1) is not None
    assert published.runtime("MiniBooNE", "bdpt", epsilon) is None
    assert published.runtime("adult", "decision-tree", epsilon) is None
