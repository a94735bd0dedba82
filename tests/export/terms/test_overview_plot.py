from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from made_up_terms import DEEP, FUNCTIONS, ensemble_of

from privatree import PrivaBoostClassifier, datasets, plot_terms
from privatree.errors import ParameterError
from privatree.model.ensemble import Branch, Step
from privatree.model.terms import ensemble_terms

pytest.importorskip("matplotlib")

from matplotlib import pyplot
from matplotlib.collections import QuadMesh


@pytest.fixture(autouse=True)
def agg() -> Iterator[None]:
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


def charts_of(figure: Any) -> list[Any]:
    return [ax for ax in figure.axes if ax.get_title(loc="left")]


@pytest.fixture(scope="module")
def adult() -> Any:
    frame, labels, schema = datasets.load("adult")
    model = PrivaBoostClassifier(1.0, rounds=40, schema=schema, random_state=0)
    return model.fit(frame[:3000], labels[:3000]).model_


@pytest.mark.slow
def test_the_strongest_terms_come_first_with_their_strengths(adult: Any) -> None:
    terms = adult.terms()
    charts = charts_of(plot_terms(adult, max_terms=7))
    assert len(charts) == 7
    for ax, term in zip(charts, terms, strict=False):
        assert ax.get_title(loc="right") == f"{term.strength:.2g}"
        if term.order == 1:
            assert ax.get_title(loc="left") == term.names[0]
    assert f"the 7 strongest of {len(terms)} terms add" in charts[0].figure.get_suptitle()


@pytest.mark.slow
def test_charts_of_one_kind_have_one_scale_that_covers_them(adult: Any) -> None:
    terms = adult.terms()
    figure = plot_terms(adult, max_terms=len(terms) if len(terms) <= 60 else 60)
    shown = [term for term in terms if term.order <= 2][:60]
    limits = set()
    for ax, term in zip(charts_of(figure), shown, strict=True):
        meshes = [one for one in ax.collections if isinstance(one, QuadMesh)]
        if meshes:
            limits.add(("map", meshes[0].norm.vmin, meshes[0].norm.vmax))
        else:
            has_categories = term.axes[0].cuts is None
            limits.add(("curve", *(ax.get_xlim() if has_categories else ax.get_ylim())))
    assert len(limits) == 2
    largest = {
        kind: max(np.abs(term.effect).max() for term in shown if term.order == order)
        for kind, order in (("curve", 1), ("map", 2))
    }
    for kind, low, high in limits:
        assert low == -high
        assert largest[kind] <= high <= 1.1 * largest[kind]


@pytest.mark.slow
def test_weak_pairs_can_be_left_out_and_many_categories_are_counted(adult: Any) -> None:
    charts = charts_of(plot_terms(adult, max_terms=60, max_pairs=0))
    assert all("×" not in ax.get_title(loc="left") for ax in charts)
    names = {ax.get_title(loc="left"): ax for ax in charts}
    if "native-country" in names:
        texts = [text.get_text() for text in names["native-country"].get_yticklabels()]
        assert texts[-1] == "… 34 more"
        assert len(texts) == 8
    figure = charts[0].figure
    assert f"What {len(charts)} of {len(adult.terms())} terms add to" in figure.get_suptitle()


def test_many_classes_have_one_legend_or_one_chosen_class() -> None:
    terms = ensemble_terms(ensemble_of(*FUNCTIONS, *FUNCTIONS, classes=("a", "b", "c")))
    figure = plot_terms(terms)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b", "c"]
    assert "to the score of each class" in figure.get_suptitle()
    chosen = plot_terms(terms, label="b")
    assert not chosen.legends
    assert "to the score of b" in chosen.get_suptitle()


def test_terms_of_three_features_and_ensembles_that_say_nothing() -> None:
    deep = ensemble_terms(ensemble_of(DEEP))
    assert any(term.order == 3 for term in deep)
    figure = plot_terms(deep, max_terms=60)
    assert len(charts_of(figure)) == sum(term.order <= 2 for term in deep)
    figure.draw_without_rendering()
    empty = plot_terms(ensemble_of(Step(0, 1, ())))
    assert charts_of(empty) == []
    assert "no term adds to the log-odds of ill" in empty.get_suptitle()
    one = plot_terms(ensemble_of(Step(0, 1, (3.0,))))
    assert "the only term adds to the log-odds of ill" in one.get_suptitle()


def test_the_title_says_whether_those_are_the_strongest() -> None:
    terms = ensemble_terms(ensemble_of())
    n_all = len(terms)
    assert f"What all {n_all} terms add" in plot_terms(terms).get_suptitle()
    assert f"What the 2 strongest of {n_all} terms" in plot_terms(terms, max_terms=2).get_suptitle()
    assert (
        f"What the strongest of {n_all} terms adds" in plot_terms(terms, max_terms=1).get_suptitle()
    )
    assert "Outside the dotted lines" in plot_terms(terms).get_suptitle()
    pair = Branch(2, Step(0, 1, (40.0,)), Step(0, -1, (40.0,)), goes_left=b"\1\1\0\0\1")
    strong_pair = ensemble_of(pair, pair, Step(3, -1, (2.0,)), Step(2, positive=b"\1\0\0\0\0"))
    assert ensemble_terms(strong_pair)[0].order == 2
    left_out = plot_terms(strong_pair, max_pairs=0).get_suptitle()
    n_all = len(ensemble_terms(strong_pair))
    assert f" of {n_all} terms add" in left_out
    assert "strongest" not in left_out
    assert "Outside" not in left_out
    assert len(charts_of(plot_terms(terms, max_terms=np.int64(2)))) == 2


@pytest.mark.parametrize("wrong", [0, 61, 2.0, "12", True])
def test_max_terms(wrong: Any) -> None:
    with pytest.raises(ParameterError, match="from 1 to 60") as caught:
        plot_terms(ensemble_of(), max_terms=wrong)
    assert caught.value.parameter == "max_terms"
    with pytest.raises(ParameterError) as caught:
        plot_terms(ensemble_of(), max_pairs=-1)
    assert caught.value.parameter == "max_pairs"


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ParameterError, match=r"pip install 'privatree\[plot\]'"):
        plot_terms(ensemble_of())
