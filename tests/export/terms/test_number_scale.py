from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_terms import ensemble_of

from privatree.export.terms._number_scale import NumberScale, short_number
from privatree.model.ensemble import Ensemble, Round, Step
from privatree.model.terms import ensemble_terms
from privatree.schema import Numeric, Schema


def scale_of(
    low: float, high: float, interval: tuple[float, float] | None, **more: Any
) -> NumberScale:
    schema = Schema({"x": Numeric(low, high, **more)}, ["no", "yes"])
    cut = (low + high) / 2
    switches = (-np.inf, cut) if more else (cut,)
    rounds = (Round(Step(0, 1, switches), (-1, 1)),)
    terms = ensemble_terms(Ensemble(schema, 0.5, rounds, {} if interval is None else {0: interval}))
    return NumberScale.of(terms, terms["x"].axes[0])


RANGES = [
    (0.0, 100.0, None),
    (0.0, 100.0, (0.0, 50.0)),
    (0.0, 99_999.0, (0.0, 390.6)),
    (-1000.0, 1000.0, (17.0, 90.0)),
    (-1e9, 3.0, (0.0, 3.0)),
    (-1e-5, 1e9, (-1e-5, 1e-5)),
]


@pytest.mark.parametrize("given_range", RANGES)
@given(share=st.floats(0, 1), other=st.floats(0, 1))
def test_places_increase_and_can_be_turned_back(
    given_range: Any, share: float, other: float
) -> None:
    low, high, interval = given_range
    scale = scale_of(low, high, interval)
    value, larger = sorted(low + part * (high - low) for part in (share, other))
    places = scale.place([value, larger])
    assert places[0] <= places[1]
    np.testing.assert_allclose(
        scale.value(places), [value, larger], rtol=1e-9, atol=1e-9 * (high - low)
    )


@pytest.mark.parametrize("given_range", RANGES[2:])
def test_a_small_interval_takes_half_of_the_axis(given_range: Any) -> None:
    low, high, interval = given_range
    first, start, end, last = scale_of(low, high, interval).place([low, *interval, high])
    assert (end - start) / (last - first) == pytest.approx(0.5)


def test_a_wide_interval_leaves_the_axis_linear() -> None:
    assert scale_of(0, 100, (0, 50)).interval is None
    assert scale_of(0, 100, (10, 20)).interval == (10, 20)


@pytest.mark.parametrize("given_range", RANGES)
def test_ticks_are_in_the_range_and_apart(given_range: Any) -> None:
    from matplotlib.figure import Figure

    low, high, interval = given_range
    scale = scale_of(low, high, interval)
    ax = Figure().subplots()
    scale.set_up(ax)
    ticks = scale.place(ax.get_xticks())
    assert len(ticks) >= 3
    assert ((low <= ax.get_xticks()) & (ax.get_xticks() <= high)).all()
    first, last = scale.place([low, high])
    assert (np.diff(np.sort(ticks)) / (last - first)).min() > 0.08
    assert ax.get_xlim() == (low, high)


@pytest.mark.parametrize("which", ["x", "y"])
def test_missing_values_are_beside_the_numbers(which: str) -> None:
    from matplotlib.figure import Figure

    scale = scale_of(0, 1000, (10, 20), missing="separate")
    assert scale.missing_edges is not None
    start, end = scale.missing_edges
    assert start < end < 0
    ax = Figure().subplots()
    scale.set_up(ax, which)
    ax.get_figure().draw_without_rendering()
    texts = [label.get_text().strip() for label in getattr(ax, f"get_{which}ticklabels")()]
    assert texts[0] == "missing"
    assert "20" in texts
    assert getattr(ax, f"get_{which}lim")()[0] == start


def test_categories_have_no_scale() -> None:
    terms = ensemble_terms(ensemble_of())
    with pytest.raises(TypeError, match="has categories"):
        NumberScale.of(terms, terms["town"].axes[0])


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (0.25, "0.25"), (-3.0, "\N{MINUS SIGN}3"), (1500.0, "1,500"), (20_000.0, "20k"),
     (-20_000.0, "\N{MINUS SIGN}20k"), (3e6, "3M"), (2.5e9, "2.5G"), (1e300, "1e+300"),
     (99_999.0, "100k"), (1e-5, "1e\N{MINUS SIGN}05")],
)  # fmt: skip
def test_short_numbers(value: float, text: str) -> None:
    assert short_number(value) == text
