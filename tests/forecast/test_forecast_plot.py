import numpy as np
import pytest

from privatree import ParameterError
from privatree.forecast import forecast

pytest.importorskip("matplotlib")


@pytest.fixture
def made(trainings):
    return forecast(150, (0.05, 1.0))


def test_both_panels_show_the_forecast_and_the_tables(made):
    for ax, score in zip(made.plot(), ("accuracy", "auc"), strict=True):
        lines = {line.get_label(): line for line in ax.get_lines()}
        expected = [getattr(each, score) for each in made.expected]
        assert lines["forecast: mean"].get_ydata() == pytest.approx([e.mean for e in expected])
        assert len(lines["a bundled dataset"].get_xdata()) == 2 * 3  # without the easy ones
        assert len(lines["a made-up table"].get_xdata()) == 2 * 2
        (band,) = ax.collections
        ends = band.get_paths()[0].vertices[:, 1]
        assert (min(ends), max(ends)) == pytest.approx(
            (min(e.lowest for e in expected), max(e.highest for e in expected))
        )
        assert [text.get_text() for text in ax.get_xticklabels()] == ["0.05", "1"]


def test_one_epsilon_can_be_drawn(trainings):
    left, _ = forecast(150, 1.0).plot()
    assert np.all(left.get_lines()[-1].get_xdata() == [1.0])


@pytest.mark.parametrize(("name", "start"), [("a.png", b"\x89PNG"), ("b.SVG", b"<?xml")])
def test_a_picture_is_the_same_file_each_time(made, tmp_path, name, start):
    made.save_plot(tmp_path / name)
    first = (tmp_path / name).read_bytes()
    assert first.startswith(start)
    made.save_plot(str(tmp_path / name))
    assert (tmp_path / name).read_bytes() == first


def test_a_picture_of_another_kind_is_refused(made, tmp_path):
    with pytest.raises(ParameterError, match=r"path must end in \.png or \.svg, got '.*a\.pdf'\."):
        made.save_plot(tmp_path / "a.pdf")
    assert list(tmp_path.glob("*.pdf")) == []
