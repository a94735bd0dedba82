from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from privatree.errors import ParameterError
from privatree.privacy import Randomness
from privatree.privacy.samplers import UNIT_ROUNDOFF
from privatree.privacy.samplers import _halving as halving
from privatree.privacy.samplers import _selection as selection
from privatree.privacy.samplers._halving import NEGLIGIBLE
from privatree.privacy.samplers._selection import select_by_score, toss_coins_by_score

CASES = {
    "int": (np.array([3, 0, 1, 3, 5]), Fraction(1, 2), None),
    "float": (np.array([0.25, -1.5, 0.1, 1e-3]), Fraction(4, 3), None),
    "measure": (np.array([0, 2, 1]), Fraction(1), np.array([4.0, 0.125, 2.0 / 3.0])),
    "float measure": (np.array([-0.7, 0.0, 0.7]), Fraction(1, 3), np.array([1e-3, 0.5, 0.25])),
    "ties": (np.array([2, 2, 0, 2]), Fraction(1, 3), None),
    "all equal": (np.full(6, -4.5), Fraction(7), None),
    "far": (np.array([0, -3, -(10**15), -9]), Fraction(1, 2), None),
    "many": (np.arange(200) % 17, Fraction(1, 5), None),
}
BIASED = ["int", "float", "ties", "far"]
DRAWS = 5000
"""Of the law, and of a wrong rate: what is enough to catch the one is what the other passes."""


class Scripted(Randomness):
    """Gives the bits of one given binary fraction, and zeros when they run out."""

    def __init__(self, numerator: int, bits: int) -> None:
        super().__init__(0)
        self._numerator, self._left = numerator, bits
        self.drawn = 0

    def bits(self, count: int) -> int:
        self.drawn += count
        self._left -= count
        if self._left < 0:
            return (self._numerator << -self._left) % 2**count
        return (self._numerator >> self._left) % 2**count

    def words(self, count: int) -> NDArray[np.uint64]:
        return np.array([self.bits(64) for _ in range(count)], dtype=np.uint64)


class Layered(Randomness):
    """First words and further bits from two streams, so that refining shifts no later word."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._further = Randomness(seed + 10**6)

    def bits(self, count: int) -> int:
        return super().bits(count) if count == 64 else self._further.bits(count)


def precise_weights(
    scores: NDArray[Any], rate: Fraction, measure: NDArray[np.float64] | None
) -> list[Fraction]:
    """The weights to 200 digits."""
    best = max(Fraction(score) for score in scores.tolist())
    base_measure = [1.0] * len(scores) if measure is None else measure.tolist()
    weights = []
    with localcontext(Context(prec=250, Emax=10**17, Emin=-(10**17))):
        for score, mass in zip(scores.tolist(), base_measure, strict=True):
            exponent = rate * (Fraction(score) - best)
            power = (Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp()
            fraction = Fraction(power) if power > Decimal("1e-1000") else Fraction(0)
            weights.append(fraction * Fraction(mass))
    return weights


def law(name: str) -> list[float]:
    weights = precise_weights(*CASES[name])
    return [float(weight / sum(weights)) for weight in weights]


def all_precise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "_EXP_ERROR", 1e20)


def forbid_precise(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("decided in arbitrary precision")

    monkeypatch.setattr(halving, "_halve_precisely", refuse)
    monkeypatch.setattr(selection, "_toss_coin_precisely", refuse)


# --- select -------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_select_follows_its_law(name: str, integer_law: Callable[..., float]) -> None:
    scores, rate, measure = CASES[name]
    source = Randomness(31)
    draws = [select_by_score(scores, rate, source, measure) for _ in range(DRAWS)]
    assert integer_law(draws, law(name)) < 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["int", "float", "measure", "far"])
def test_select_at_a_wrong_rate_would_be_caught(
    name: str, integer_law: Callable[..., float]
) -> None:
    scores, rate, measure = CASES[name]
    source = Randomness(31)
    draws = [select_by_score(scores, rate * Fraction(4, 3), source, measure) for _ in range(DRAWS)]
    assert integer_law(draws, law(name)) > 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["int", "float measure", "ties"])
def test_select_in_arbitrary_precision_follows_the_law(
    name: str, monkeypatch: pytest.MonkeyPatch, integer_law: Callable[..., float]
) -> None:
    all_precise(monkeypatch)
    scores, rate, measure = CASES[name]
    source = Randomness(32)
    draws = [select_by_score(scores, rate, source, measure) for _ in range(2000)]
    assert integer_law(draws, law(name)) < 1


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_select_is_the_same_in_floats_and_in_arbitrary_precision(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores, rate, measure = CASES[name]
    draws = 10 if name == "many" else 250
    with monkeypatch.context() as patch:
        forbid_precise(patch)
        in_floats = [select_by_score(scores, rate, Layered(seed), measure) for seed in range(draws)]
    all_precise(monkeypatch)
    precisely = [select_by_score(scores, rate, Layered(seed), measure) for seed in range(draws)]
    assert in_floats == precisely
    assert len(set(in_floats)) > 1


def test_forcing_arbitrary_precision_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the comparison above compares nothing."""
    all_precise(monkeypatch)
    forbid_precise(monkeypatch)
    with pytest.raises(AssertionError, match="decided in arbitrary precision"):
        select_by_score(np.array([0, 1]), Fraction(1), Randomness(1))
    with pytest.raises(AssertionError, match="decided in arbitrary precision"):
        toss_coins_by_score(np.array([0, 1]), Fraction(1), Randomness(1))


def test_select_draws_one_word_a_halving_where_floats_decide() -> None:
    used, fresh = Randomness(5), Randomness(5)
    select_by_score(np.array([0, 1, 2, 3]), Fraction(1), used)
    fresh.words(2)
    assert used.words(2).tolist() == fresh.words(2).tolist()


@pytest.mark.parametrize("bits", [64, 80, 100, 200, 400])
@pytest.mark.parametrize("name", ["int", "float", "measure", "ties"])
def test_select_at_the_border_of_two_candidates(name: str, bits: int) -> None:
    """Uniform numbers right below and above the border."""
    scores, rate, measure = CASES[name]
    for other in range(1, len(scores)):
        pair = [0, other]
        base_measure = None if measure is None else measure[pair]
        weights = precise_weights(scores[pair], rate, base_measure)
        share = weights[0] / sum(weights)
        border = (share * 2**bits).__floor__()
        for numerator in range(border - 2, border + 3):
            # The bits that follow are zeros, so this is the uniform number itself. On the border
            # (of equal weights) nobody could decide; a real uniform number is never there.
            if Fraction(numerator, 2**bits) == share:
                continue
            source = Scripted(numerator, bits)
            chosen = select_by_score(scores[pair], rate, source, base_measure)
            assert chosen == (Fraction(numerator, 2**bits) >= share)
            assert source.drawn > 64, "the uniform number was meant to be too close for floats"


FAR = [(np.array([-(1386 * k + 5), 0]), Fraction(1, k)) for k in (3, 7, 11, 13, 17, 19, 23)]
"""Exponents of about -1386, with as many digits as one cares to compute."""
FAR_MEASURE = np.array([2.0**1000, 2.0**-1000])
"""Makes up for those exponents."""


@pytest.mark.parametrize(("scores", "rate"), FAR)
def test_select_at_the_border_of_exponents_with_few_correct_digits(
    scores: NDArray[Any], rate: Fraction
) -> None:
    """Rounded to 40 digits, the exponent makes the weight wrong by some 10^-37."""
    weights = precise_weights(scores, rate, FAR_MEASURE)
    share = weights[0] / sum(weights)
    assert 0.01 < share < 0.99
    border = (share * 2**300).__floor__()
    for offset in (-(2**150), 0, 1, 2**150):
        source = Scripted(border + offset, 300)
        assert select_by_score(scores, rate, source, FAR_MEASURE) == (offset > 0)


def test_select_at_the_ends_of_the_unit_interval() -> None:
    scores = np.array([0, 0, 0])
    assert select_by_score(scores, Fraction(1), Scripted(0, 64)) == 0
    assert select_by_score(scores, Fraction(1), Scripted(2**400 - 1, 400)) == 2


@pytest.mark.parametrize(
    ("scores", "rate", "chosen"),
    [
        (np.array([5]), Fraction(1), {0}),
        (np.array([-1e300]), Fraction(10**400), {0}),
        (np.array([0, 10**15, -(10**15)]), Fraction(1), {1}),
        (np.array([0.0, 1e15, -1e15]), Fraction(1), {1}),
        (np.array([0, 1]), Fraction(10**400), {1}),
        (np.array([1, 1]), Fraction(10**400), {0, 1}),
        (np.array([0.0, 5e-324]), Fraction(10**400), {1}),
        (np.array([0, 10**15]), Fraction(10**300), {1}),
        (np.array([-(2**63), 2**63 - 1]), Fraction(1), {1}),
        (np.array([-1.5e308, 1.5e308]), Fraction(1), {1}),
        (np.array([-1.5e308, 1.5e308]), Fraction(1, 10**309), {0, 1}),
        (np.array([0, 2**63 - 1]), Fraction(1, 10**400), {0, 1}),
    ],
)
def test_select_with_extreme_scores(scores: NDArray[Any], rate: Fraction, chosen: set[int]) -> None:
    assert {select_by_score(scores, rate, Randomness(seed)) for seed in range(40)} == chosen


def test_select_with_scores_too_far_apart_for_floats_follows_the_law(
    integer_law: Callable[..., float],
) -> None:
    source = Randomness(34)
    scores, rate = np.array([-1.5e308, 1.5e308]), Fraction(1, 3 * 10**308)
    draws = [select_by_score(scores, rate, source) for _ in range(2000)]
    first = 1 / (1 + np.e)
    assert integer_law(draws, [first, 1 - first]) < 1


@pytest.mark.parametrize("scale", [2.0**-1060, 2.0**-1074, 2.0**-500, 2.0**1000, 2.0**1022])
def test_the_scale_of_the_measure_does_not_matter(scale: float) -> None:
    """The products underflow or overflow unless the measure is scaled first."""
    scores = np.array([0.0, -1.0, 0.5])
    plain = np.array([1.0, 2.0, 3.0])
    rate = Fraction(1, 2)
    for seed in range(300):
        scaled = select_by_score(scores, rate, Randomness(seed), plain * scale)
        assert scaled == select_by_score(scores, rate, Randomness(seed), plain)


def test_subnormal_measures_at_the_boundary() -> None:
    """Products that underflow would be wrong by 10^-5, and the border of the halves with them."""
    scores, rate = np.repeat([0.0, -1.0], 50), Fraction(1)
    measure = np.full(100, 2.0**-1060)
    weights = precise_weights(scores, rate, measure)
    border = (sum(weights[:50]) / sum(weights) * 2**64).__floor__()
    for offset in (-(2**40), -(2**30), -1000, -10, 10, 1000, 2**30, 2**40):
        # After the first halving all bits are zeros: always left.
        chosen = select_by_score(scores, rate, Scripted(border + offset, 64), measure)
        assert chosen == (0 if offset < 0 else 50)


def test_a_measure_far_from_the_best_score() -> None:
    """Weights 1, and 2^-1000 with the best score: the floats see nothing but rounding."""
    scores, rate = np.array([-2000, 0]), Fraction(1)
    measure = np.array([1.0, 2.0**-1000])
    weights = precise_weights(scores, rate, measure)
    assert weights[1] > 10**6 * weights[0]
    assert {select_by_score(scores, rate, Randomness(seed), measure) for seed in range(30)} == {1}


def test_select_among_a_hundred_thousand(chi_square: Callable[..., float]) -> None:
    scores = np.arange(100_000) % 1000
    rate = Fraction(1, 200)
    source = Randomness(35)
    draws = np.array([select_by_score(scores, rate, source) for _ in range(400)])
    assert draws.max() < 100_000
    weights = np.exp(np.arange(1000) / 200).reshape(20, 50).sum(axis=1)
    counts = np.bincount(draws % 1000 // 50, minlength=20)
    assert chi_square(counts, weights / weights.sum(), len(draws)) < 1
    by_place = np.bincount(draws // 5000, minlength=20)
    assert chi_square(by_place, np.full(20, 1 / 20), len(draws)) < 1


# --- toss ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", BIASED)
@pytest.mark.parametrize("forced", [False, True])
def test_toss_follows_its_law(
    name: str, forced: bool, monkeypatch: pytest.MonkeyPatch, chi_square: Callable[..., float]
) -> None:
    """All coins together, so that coins that depend on each other are seen."""
    if forced:
        all_precise(monkeypatch)
    scores, rate, _ = CASES[name]
    source = Randomness(41)
    draws = 2000 if forced else 8000
    heads = np.array([toss_coins_by_score(scores, rate, source) for _ in range(draws)])
    biases = [float(weight) for weight in precise_weights(scores, rate, None)]
    joint = np.ones(1)
    for bias in biases:
        joint = np.concatenate([joint * (1 - bias), joint * bias])
    patterns = heads @ (1 << np.arange(len(scores)))
    counts = np.bincount(patterns, minlength=len(joint))
    assert counts[joint == 0].sum() == 0
    assert chi_square(counts, joint, draws) < 1


@pytest.mark.parametrize("name", BIASED)
def test_toss_is_the_same_in_floats_and_in_arbitrary_precision(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores, rate, _ = CASES[name]
    with monkeypatch.context() as patch:
        forbid_precise(patch)
        in_floats = [
            toss_coins_by_score(scores, rate, Randomness(seed)).tolist() for seed in range(250)
        ]
    all_precise(monkeypatch)
    precisely = [
        toss_coins_by_score(scores, rate, Randomness(seed)).tolist() for seed in range(250)
    ]
    assert in_floats == precisely
    assert len({tuple(heads) for heads in in_floats}) > 1


@pytest.mark.parametrize("scores", [np.array([0, 1]), np.array([-0.3, 0.1]), np.array([-40, 0])])
@pytest.mark.parametrize("bits", [64, 90, 300])
def test_toss_at_the_boundary(scores: NDArray[Any], bits: int) -> None:
    rate = Fraction(2, 3)
    bias = precise_weights(scores, rate, None)[0]
    border = (bias * 2**bits).__floor__()
    for numerator in range(max(0, border - 2), border + 3):
        word, rest = divmod(numerator, 2 ** (bits - 64))
        source = Scripted((word << bits) + rest, bits + 64)  # the other coin's word is in between
        heads = toss_coins_by_score(scores, rate, source)
        assert heads.tolist() == [Fraction(numerator, 2**bits) < bias, True]
        assert source.drawn > 128, "the uniform number was meant to be too close for floats"


@pytest.mark.parametrize(
    ("scores", "rate", "certain"),
    [
        (np.array([5]), Fraction(1), [True]),
        (np.array([2, 2, 2]), Fraction(10**400), [True, True, True]),
        (np.array([0, 10**15]), Fraction(1), [False, True]),
        (np.array([0.0, 1e15]), Fraction(10**300), [False, True]),
        (np.array([0, 1]), Fraction(10**400), [False, True]),
        (np.array([-(2**63), 2**63 - 1]), Fraction(1), [False, True]),
        (np.array([-1.5e308, 1.5e308]), Fraction(1), [False, True]),
    ],
)
def test_toss_with_extreme_scores(
    scores: NDArray[Any], rate: Fraction, certain: list[bool]
) -> None:
    for seed in range(20):
        assert toss_coins_by_score(scores, rate, Randomness(seed)).tolist() == certain


def test_toss_with_scores_too_far_apart_for_floats_follows_the_law(
    integer_law: Callable[..., float],
) -> None:
    source = Randomness(44)
    scores, rate = np.array([-1.5e308, 1.5e308]), Fraction(1, 3 * 10**308)
    draws = [toss_coins_by_score(scores, rate, source)[0] for _ in range(2000)]
    assert integer_law(draws, [1 - np.exp(-1), np.exp(-1)]) < 1


def test_a_hundred_thousand_coins(integer_law: Callable[..., float]) -> None:
    scores = np.arange(100_000) % 2
    heads = toss_coins_by_score(scores, Fraction(1), Randomness(45))
    assert heads[1::2].all()
    assert integer_law(heads[::2], [1 - np.exp(-1), np.exp(-1)]) < 1


# --- the error bounds ---------------------------------------------------------------------------


def test_exp_of_this_machine_is_within_the_stated_error() -> None:
    """The error bounds allow ``exp`` 64 unit roundoffs with a product after it."""
    exponents = -np.concatenate([np.linspace(0, 700, 3001), 2.0 ** -np.arange(1, 60.0)])
    computed = np.exp(exponents)
    with localcontext(Context(prec=60)):
        for exponent, value in zip(exponents.tolist(), computed.tolist(), strict=True):
            exact = Decimal(exponent).exp()
            assert abs(Decimal(value) / exact - 1) < Decimal(8) * Decimal(UNIT_ROUNDOFF)


@pytest.mark.slow
def test_the_error_bound_holds_for_awkward_weights() -> None:
    """The weights in floats against 200 digits, relative to what ``select_by_score`` allows."""
    generator = np.random.default_rng(3)
    seen = 0
    for round_ in range(80):
        scores = generator.normal(scale=10.0 ** generator.integers(-3, 6), size=30)
        rate = Fraction(float(np.exp(generator.normal(scale=4))))
        measure = np.exp(generator.normal(scale=[1, 20, 150][round_ % 3], size=30))
        exact = precise_weights(scores, rate, measure)
        weights, bound = selection._float_score_weights(scores, rate, measure)
        unit = max(exact)
        # The weights have a common unit that is not known exactly: compare with the largest.
        largest = int(np.argmax(weights))
        for weight, truth in zip(weights.tolist(), exact, strict=True):
            if weight == 0.0:
                assert truth < Fraction(NEGLIGIBLE) * unit
            else:
                ratio = Fraction(weight) / Fraction(weights[largest]) * exact[largest] / truth
                assert abs(ratio - 1) <= 2 * Fraction(bound)
                seen += 1
    assert seen > 300


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16, np.uint32, np.float32])
def test_narrow_types_do_not_wrap_around(dtype: type) -> None:
    scores = np.array([100, 1, 0], dtype=dtype)
    for seed in range(20):
        assert select_by_score(scores, Fraction(1), Randomness(seed)) == 0
        assert toss_coins_by_score(scores, Fraction(1), Randomness(seed)).tolist() == [
            True,
            False,
            False,
        ]


@pytest.mark.parametrize("dtype", [np.uint64, np.bool_, object])
def test_other_types_are_refused(dtype: Any) -> None:
    with pytest.raises(ParameterError, match="scores must be int64 or float64"):
        select_by_score(np.array([1, 0], dtype=dtype), Fraction(1), Randomness(1))


@pytest.mark.parametrize("digits", [40, 80])
def test_the_error_bound_holds_in_arbitrary_precision(digits: int) -> None:
    """And is needed: the weights are off by much more than one rounding."""
    worst = Fraction(0)
    for scores, rate in FAR:
        weights, bound = selection._decimal_score_weights(scores, rate, FAR_MEASURE, digits)
        exact = precise_weights(scores, rate, FAR_MEASURE)
        for weight, truth in zip(weights, exact, strict=True):
            error = abs(Fraction(weight) / truth - 1)
            assert error <= Fraction(bound)
            worst = max(worst, error)
        assert bound < Decimal(10) ** (5 - digits)
    assert worst > Fraction(10) ** (2 - digits)
