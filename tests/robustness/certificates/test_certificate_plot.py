import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from privatree.errors import ParameterError
from privatree.privacy import Leak, PrivacyStatement, Schedule, Stage
from privatree.robustness import AccuracyCertificate, AttackSuccessCertificate
from privatree.robustness.certificates._majority import Majority

pytest.importorskip("matplotlib")

from matplotlib import pyplot
from matplotlib.figure import Figure

STAGES = (Stage("count", Fraction(1, 100)), Stage("choice", Fraction(9, 100)))
PRIVACY = PrivacyStatement(
    learner="Learner",
    epsilon=0.1,
    schedule=Schedule(Fraction(1, 10), Fraction(9, 100), Fraction(1, 100), (STAGES,)),
)
FIGURES = {"confidence": 0.99, "refits": 400, "n_train": 1000, "n_test": 50}
ACCURACY = AccuracyCertificate(
    privacy=PRIVACY, estimate=0.85, clean_bound=0.84, poisoned=(0, 10), **FIGURES
)
SUCCESS = AttackSuccessCertificate(
    privacy=PRIVACY, estimate=0.01, clean_bound=0.02, poisoned=(1, 10), **FIGURES
)
CLAIM = PrivacyStatement(
    learner="Other", epsilon=float("inf"), claimed_epsilon=0.1, leaks=(Leak("hole", "it leaks."),)
)


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_guarantee_and_the_paper_s_bound():
    ax = Figure().subplots()
    assert ACCURACY.plot(ax) is ax
    sure, marks, paper, clean = ax.get_lines()
    assert sure.get_xdata()[0] == 0
    assert sure.get_xdata()[-1] >= 10
    assert np.all(np.diff(sure.get_ydata()) <= 0)
    assert np.all(sure.get_ydata() >= paper.get_ydata())
    assert marks.get_ydata().tolist() == [ACCURACY.guarantee(0), ACCURACY.guarantee(10)]
    assert set(clean.get_ydata()) == {0.85}
    assert sure.get_label() == "guaranteed with 99% confidence"
    assert ax.get_ylabel() == "expected accuracy, at least"


def test_the_success_of_an_attack_is_at_most_so_much():
    ax = SUCCESS.plot(Figure().subplots())
    sure, _, paper, _ = ax.get_lines()
    assert np.all(np.diff(sure.get_ydata()) >= 0)
    assert np.all(sure.get_ydata() <= paper.get_ydata())
    assert ax.get_ylabel() == "expected attack success rate, at most"
    (shaded,) = ax.collections
    assert shaded.get_paths()[0].get_extents().y1 == 1.0


def test_the_most_frequent_answer_to_compare_with():
    ax = replace(ACCURACY, majority=Majority("yes", 0.6)).plot(Figure().subplots())
    assert set(ax.get_lines()[-1].get_ydata()) == {0.6}
    assert "always the most frequent answer" in labels(ax)


@pytest.mark.parametrize("name", ["its authors", "$the_$", "a\\b"], ids=range(3))
def test_a_claim_says_so(name):
    claimed = replace(ACCURACY, privacy=CLAIM, claimed_by=name)
    ax = claimed.plot(Figure().subplots())
    ax.figure.draw_without_rendering()
    assert f"only if the claim by {name} is true" in labels(ax)


def test_a_figure_of_pyplot():
    pyplot.switch_backend("agg")
    ax = ACCURACY.plot()
    assert pyplot.get_fignums() == [ax.figure.number]
    pyplot.close(ax.figure)


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ParameterError, match=r"pip install 'privatree\[plot\]'"):
        ACCURACY.plot()
