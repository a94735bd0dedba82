"""Pictures show the effects of the terms, where they are, and what chance alone explains."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from made_up_terms import DEEP, FUNCTIONS, ensemble_of, number_ensemble_of

from privatree import PrivaBoostClassifier, datasets, plot_term
from privatree.errors import ParameterError
from privatree.export.terms._curve import MAX_LINES
from privatree.model.ensemble import Branch, Ensemble, Round, Step
from privatree.model.terms import Terms, ensemble_terms
from privatree.schema import Categorical, Numeric, Schema, Target

pytest.importorskip("matplotlib")

from matplotlib import pyplot
from matplotlib.collections import PolyCollection, QuadMesh
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle, StepPatch


@pytest.fixture(autouse=True)
def agg() -> Iterator[None]:
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def terms() -> Terms:
    return ensemble_terms(ensemble_of())


@pytest.fixture(scope="module")
def of_four_classes() -> Terms:
    return ensemble_terms(ensemble_of(*FUNCTIONS, *FUNCTIONS, classes=("a", "b", "c", "d")))


def steps_of(ax: Any, *, band: bool) -> list[Any]:
    found = [patch for patch in ax.patches if isinstance(patch, StepPatch)]
    return [patch.get_data() for patch in found if patch.get_fill() == band]


def mesh_of(ax: Any) -> QuadMesh:
    (mesh,) = [one for one in ax.collections if isinstance(one, QuadMesh)]
    return mesh


# --- numbers --------------------------------------------------------------------------------------


def test_a_number_is_a_step_function_with_its_band(terms: Terms) -> None:
    term = terms["gain"]
    ax = plot_term(terms, "gain")
    ((values, edges, _),) = steps_of(ax, band=False)
    np.testing.assert_array_equal(values, term.values)
    np.testing.assert_array_equal(edges, term.axes[0].edges)
    ((above, _, below),) = steps_of(ax, band=True)
    np.testing.assert_array_equal(above, term.band)
    np.testing.assert_array_equal(below, -term.band)
    assert ax.get_xlabel() == "gain"
    assert ax.get_ylabel() == "adds to the log-odds of ill"
    assert ax.get_title() == (
        f"gain: strength {term.strength:.2g}\nOutside the dotted lines, an axis is logarithmic."
    )
    assert plot_term(terms, "visits").get_title().startswith("visits: strength ")
    assert "dotted" not in plot_term(terms, "visits").get_title()
    assert ax.get_legend() is None


def test_missing_values_are_a_step_of_their_own(terms: Terms) -> None:
    values = terms["age"].values
    (missing, numbers) = steps_of(plot_term(terms, "age"), band=False)
    assert missing[0].tolist() == values[:1].tolist()
    assert missing[1][1] < 0
    assert numbers[0].tolist() == values[1:].tolist()


def test_many_classes_are_lines_and_one_can_be_chosen(of_four_classes: Terms) -> None:
    term = of_four_classes["gain"]
    ax = plot_term(of_four_classes, "gain")
    np.testing.assert_array_equal(
        [values for values, *_ in steps_of(ax, band=False)], term.effect.T
    )
    ((above, _, _),) = steps_of(ax, band=True)
    np.testing.assert_array_equal(above, term.band.max(axis=-1))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "c", "d"]
    assert ax.get_ylabel() == "adds to the score of each class"
    chosen = plot_term(of_four_classes, "gain", label="b")
    ((values, _, _),) = steps_of(chosen, band=False)
    np.testing.assert_array_equal(values, term.effect[:, 1])
    ((above, _, _),) = steps_of(chosen, band=True)
    np.testing.assert_array_equal(above, term.band[:, 1])
    assert chosen.get_ylabel() == "adds to the score of b"
    assert chosen.get_legend() is None


def test_of_very_many_classes_the_strongest_have_names() -> None:
    classes = tuple(range(12))
    terms = ensemble_terms(ensemble_of(*FUNCTIONS * 4, classes=classes))
    ax = plot_term(terms, "gain")
    assert len(steps_of(ax, band=False)) == 12
    assert len(ax.get_legend().get_texts()) == MAX_LINES


# --- categories -----------------------------------------------------------------------------------


def test_categories_are_sorted_dots_with_bars_of_chance(terms: Terms) -> None:
    term = terms["town"]
    ax = plot_term(terms, "town")
    (dots,) = [line for line in ax.lines if line.get_marker() == "o"]
    order = np.argsort(-term.values, kind="stable")
    np.testing.assert_array_equal(dots.get_xdata(), term.values[order])
    names = np.array(["east", "north", "south", "west", "missing"])
    assert [text.get_text() for text in ax.get_yticklabels()] == names[order].tolist()
    bars = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    np.testing.assert_allclose([bar.get_width() for bar in bars], 2 * term.band[order])
    assert ax.get_xlabel() == "adds to the log-odds of ill"
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the largest is on top


def test_categories_of_many_classes(of_four_classes: Terms) -> None:
    ax = plot_term(of_four_classes, "town")
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    assert len(dots) == 4
    found = np.array([line.get_xdata() for line in dots]).T
    expected = of_four_classes["town"].effect
    np.testing.assert_allclose(sorted(found.tolist()), sorted(expected.tolist()))


# --- pairs ----------------------------------------------------------------------------------------


def test_two_numbers_are_a_heat_map() -> None:
    """Ends of the cells, values, and a scale that is symmetric around 0."""
    frame, labels, schema = datasets.load("breast-w")
    model = PrivaBoostClassifier(1.0, schema=schema, random_state=0).fit(frame, labels)
    terms = model.terms()
    term = next(term for term in terms if term.order == 2)
    ax = plot_term(model, *term.names)
    mesh = mesh_of(ax)
    grid = np.ma.filled(mesh.get_array(), np.nan)
    np.testing.assert_array_equal(grid, term.values.T)
    ends = mesh.get_coordinates()
    np.testing.assert_array_equal(ends[0, :, 0], term.axes[0].edges)
    np.testing.assert_array_equal(ends[:, 0, 1], term.axes[1].edges)
    limit = np.abs(term.values).max()
    assert (mesh.norm.vmin, mesh.norm.vmax) == (-limit, limit)
    assert (ax.get_xlabel(), ax.get_ylabel()) == term.names
    (_, bar) = ax.figure.axes
    assert bar.get_ylabel() == "adds to the log-odds of malignant"


def test_categories_are_on_the_vertical_axis_and_missing_values_apart(terms: Terms) -> None:
    term = terms["age", "town"]
    assert [axis.name for axis in term.axes] == ["age", "town"]
    ax = plot_term(terms, "town", "age")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", "town")
    grid = np.ma.filled(mesh_of(ax).get_array(), np.nan)
    assert np.isnan(grid[:, 1]).all()  # the gap between missing values and numbers
    np.testing.assert_array_equal(np.delete(grid, 1, axis=1), term.values.T)


def test_cells_that_chance_explains_are_hatched(terms: Terms) -> None:
    term = terms["age", "town"]
    ax = plot_term(terms, "age", "town")
    (hatched,) = [one for one in ax.collections if isinstance(one, PolyCollection)]
    inside = int((np.abs(term.values) <= term.band).sum())
    assert inside > 0
    assert len(hatched.get_paths()) == inside
    assert hatched.get_hatch() == "////"
    assert hatched.get_facecolor().size == 0


def test_small_maps_of_categories_have_numbers() -> None:
    schema = Schema({"a": Categorical(["x", "y"]), "b": Categorical(["long name", "z"])}, [0, 1])
    from privatree.model.ensemble import Branch

    branch = Branch(0, Step(1, positive=b"\1\0"), Step(1, positive=b"\0\1"), goes_left=b"\1\0")
    ensemble = Ensemble(schema, 0.5, (Round(branch, (-1, 1)),))
    ax = plot_term(ensemble, "a", "b")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "b")  # long names are vertical
    shown = sorted(text.get_text() for text in ax.texts)
    assert shown == ["+0.50", "+0.50", "\N{MINUS SIGN}0.50", "\N{MINUS SIGN}0.50"]


def test_a_pair_of_many_classes_shows_the_strongest_or_the_chosen_one(
    of_four_classes: Terms,
) -> None:
    term = of_four_classes["age", "town"]
    strongest = int((term.measure[..., None] * np.abs(term.effect)).sum(axis=(0, 1)).argmax())
    for label, place in ((None, strongest), ("d", 3)):
        ax = plot_term(of_four_classes, "age", "town", label=label)
        grid = np.ma.filled(mesh_of(ax).get_array(), np.nan)
        np.testing.assert_array_equal(np.delete(grid, 1, axis=1), term.effect[..., place].T)
        assert ax.figure.axes[1].get_ylabel() == f"adds to the score of {'abcd'[place]}"


# --- axes, names and mistakes ---------------------------------------------------------------------


def test_axes_that_are_given(terms: Terms) -> None:
    for names in (("gain",), ("town",), ("age", "town")):
        ax = Figure().subplots()
        assert plot_term(terms, *names, ax=ax) is ax
    assert not pyplot.get_fignums()
    ax = Figure().subplots()
    ax.remove()
    with pytest.raises(ParameterError, match="without a figure") as caught:
        plot_term(terms, "age", "town", ax=ax)
    assert caught.value.parameter == "ax"


@pytest.mark.parametrize("classes", [("$x$", "a_b"), ("$1", r"\frac{", "<b>&")])
def test_names_are_no_formulas(classes: Any) -> None:
    features = {"$a^$": Numeric(0, 1), "x" * 200: Categorical(["$", "\n", r"$\x$", "y" * 300])}
    functions = (Step(0, 1, (0.5,)), Step(1, positive=b"\1\0\0\1"))
    signs = (-1, 1) if len(classes) == 2 else (1, -1, -1)
    rounds = tuple(Round(one, signs) for one in functions)
    ensemble = Ensemble(Schema(features, classes), 0.5, rounds)
    for name in features:
        plot_term(ensemble, name).figure.draw_without_rendering()


def test_mistakes(terms: Terms, of_four_classes: Terms) -> None:
    def parameter_of(given: Terms, *names: str, **more: Any) -> tuple[str | None, str]:
        with pytest.raises(ParameterError) as caught:
            plot_term(given, *names, **more)
        return caught.value.parameter, str(caught.value)

    assert parameter_of(terms) == ("names", "names must be one feature or two, got none.")
    name, message = parameter_of(terms, "agee")
    assert name == "names"
    assert "Did you mean 'age'?" in message
    assert "there is no term of 'age' and 'visits'" in parameter_of(terms, "age", "visits")[1]
    name, message = parameter_of(of_four_classes, "age", label="e")
    assert name == "label"
    assert "one of the classes: 'a', 'b', 'c', 'd', got 'e'" in message
    name, message = parameter_of(terms, "age", label="well")
    assert "the class whose log-odds are added up: 'ill', got 'well'" in message
    deep = ensemble_terms(ensemble_of(DEEP))
    three = next(term for term in deep if term.order == 3)
    name, message = parameter_of(deep, *three.names)
    assert "one or two features, got 3" in message
    with pytest.raises(TypeError, match="got int"):
        plot_term(3, "age")


def test_labels_of_numpy_and_of_numbers() -> None:
    terms = ensemble_terms(ensemble_of(*FUNCTIONS, classes=(0, 1, 2)))
    assert plot_term(terms, "gain", label=np.int64(2)).get_ylabel().endswith("score of 2")
    with pytest.raises(ParameterError):
        plot_term(terms, "gain", label=True)


def test_without_matplotlib_the_extra_is_named(
    terms: Terms, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ParameterError, match=r"pip install 'privatree\[plot\]'"):
        plot_term(terms, "gain")


# --- a predicted number ---------------------------------------------------------------------------


def test_terms_of_a_number_are_drawn_in_its_unit() -> None:
    terms = ensemble_terms(number_ensemble_of())
    ax = plot_term(terms, "gain")
    ((values, *_),) = steps_of(ax, band=False)
    np.testing.assert_array_equal(values, terms["gain"].values)
    assert steps_of(ax, band=True)
    assert ax.get_ylabel() == "adds to the prediction"
    ax = plot_term(terms, "town")
    assert ax.get_xlabel() == "adds to the prediction"
    ax = plot_term(terms, "town", "visits")
    np.testing.assert_allclose(
        np.abs(mesh_of(ax).get_array()).max(), np.abs(terms["town", "visits"].values).max()
    )
    assert ax.figure.axes[-1].get_ylabel() == "adds to the prediction"
    logarithms = number_ensemble_of(target=Target(0, 1e6, log=True))
    assert plot_term(logarithms, "gain").get_ylabel() == (
        "adds to the logarithm of 1 plus the prediction"
    )
    with pytest.raises(ParameterError, match="label must be None for a model that predicts a num"):
        plot_term(terms, "gain", label="ill")


@pytest.mark.parametrize(
    ("step", "digits"), [(0.1, 2), (1.0, 2), (10.0, 1), (1000.0, 0), (1e-4, 5)]
)
def test_written_values_have_as_many_digits_as_they_need(step: float, digits: int) -> None:
    pair = Branch(0, Step(1, positive=b"\1\0"), Step(1, positive=b"\0\1"), goes_left=b"\1\0")
    schema = Schema(
        {name: Categorical(["a", "b"]) for name in ("left", "right")}, target=Target(0, 9)
    )
    ax = plot_term(Ensemble(schema, step, (Round(pair, (3,)),), start=1.0), "left", "right")
    values = {text.get_text().replace("\N{MINUS SIGN}", "-") for text in ax.texts}
    assert values == {f"{sign * 3 * step:+.{digits}f}" for sign in (-1, 1)}
