"""The paper's guarantees: a sample, and that they are the paper's formula on its accuracies."""

import math

import pytest

from privatree.reproduction import datasets
from privatree.reproduction._published_poisoning import EPSILONS, printed
from privatree.reproduction.running._tasks import n_edits
from privatree.reproduction.targets._poisoning import SHARES

METHODS = ("privatree-paper", "diffprivlib-logistic")


@pytest.mark.parametrize(
    ("dataset", "method", "epsilon", "row"),
    [
        ("Bioresponse", "privatree-paper", 0.01, (".522", ".511", ".458", ".398")),
        ("pol", "diffprivlib-logistic", 0.1, (".635", ".285", ".012", ".000")),
        ("covertype", "privatree-paper", 0.01, (".729", ".008", ".000", ".000")),
        ("covertype-mixed", "privatree-paper", 0.01, (".74", ".03", ".00", ".00")),
        ("adult", "privatree-paper", 0.01, (".77", ".54", ".13", ".02")),
        ("diabetes", "diffprivlib-logistic", 0.1, (".62", "-", ".46", ".34")),
        ("vote", "privatree-paper", 0.1, (".75", "-", ".75", ".68")),
    ],
)
def test_a_sample(dataset: str, method: str, epsilon: float, row: tuple[str, ...]) -> None:
    assert printed(dataset, method, epsilon) == row


@pytest.mark.parametrize(
    ("dataset", "method", "epsilon"),
    [
        ("adult", "privatree", 0.1),  # not the paper's
        ("adult", "privatree-paper", 1.0),
        ("adult", "privatree-paper", math.nan),
        ("iris", "privatree-paper", 0.1),
    ],
)
def test_what_was_not_published_is_empty(dataset: str, method: str, epsilon: float) -> None:
    assert printed(dataset, method, epsilon) == ("", "", "", "")


@pytest.mark.parametrize("dataset", datasets.names())
def test_guarantees_are_the_paper_s_formula_at_our_numbers_of_edits(dataset: str) -> None:
    size = datasets.describe(dataset).n_records
    for method in METHODS:
        for epsilon in EPSILONS:
            accuracy, *left = printed(dataset, method, epsilon)
            digit = 0.0005 if len(accuracy.partition(".")[2]) == 3 else 0.005
            for share, text in zip(SHARES, left, strict=True):
                edits = n_edits(size, share)
                if text == "-":
                    assert edits == 0
                    continue
                factor = math.exp(-edits * epsilon)
                rounding = digit * (1 + factor) + 1e-9  # of both printed figures
                assert float(text) == pytest.approx(factor * float(accuracy), abs=rounding)
