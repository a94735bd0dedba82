from privatree._support.plot_style import tint


def test_a_tint_is_between_white_and_the_colour():
    assert tint("#0072B2", 0.0) == "#FFFFFF"
    assert tint("#0072B2", 1.0) == "#0072B2"
    assert tint("#0080FF", 0.5) == "#80C0FF"
