import pytest

from privatree._support.suggestions import did_you_mean


@pytest.mark.parametrize(
    ("absent", "found", "meant"),
    [
        ("outcom", ["age", "outcome"], " Did you mean 'outcome'?"),
        ("Outcome", ["outcome", "outcomes"], " Did you mean 'outcome'?"),
        ("age ", [" AGE "], " Did you mean 'AGE'?"),
        ("weight", ["age", "outcome"], ""),
        ("a", [], ""),
        ("", ["", "  "], ""),
        ("outcome", ["outcome" + "x" * 200, "outcome\nx"], ""),
    ],
)
def test_a_near_name_is_asked_for(absent, found, meant):
    assert did_you_mean(absent, found) == meant
