"""What is said aloud, and figures rounded to the side that promises less."""

import math
from decimal import Decimal

import pytest

from privatree.privacy import Leak, PrivacyStatement
from privatree.report._privacy_words import factor_in_words, privacy_words


def words(noun="tree", **changes):
    statement = PrivacyStatement(**({"learner": "L", "epsilon": 0.1} | changes))
    return privacy_words(statement, noun)


@pytest.mark.parametrize(
    ("epsilon", "text"),
    [
        (0.001, "1.0011"),
        (0.1, "1.11"),
        (1, "2.72"),
        (3, "20.1"),
        (14, "1,210,000"),
        (1000, "10^435"),
    ],
)
def test_factors(epsilon, text):
    assert factor_in_words(epsilon) == text


@pytest.mark.parametrize("epsilon", [1e-9, 1e-4, 0.01, 0.5, 0.69, 0.7, 1.5, 4.6, 4.7, 9, 20, 34])
def test_a_factor_is_never_less_than_it_is(epsilon):
    shown = float(factor_in_words(epsilon).replace(",", ""))
    assert math.exp(epsilon) * (1 - 1e-12) <= shown
    assert shown - 1 <= 1.2 * math.expm1(epsilon)


def test_a_sound_statement_needs_no_alert():
    said = words()
    assert (said.tone, said.alerts, said.epsilon) == ("holds", (), "0.1")
    assert "at most 1.11 times as likely" in said.meaning


def test_beliefs_are_bayes_rounded_up():
    after = [belief.after for belief in words(epsilon=math.log(3)).beliefs]
    assert after == ["3.0%", "25.0%", "75.0%"]
    assert [belief.after for belief in words(epsilon=50.0).beliefs] == ["nearly 100%"] * 3


@pytest.mark.parametrize(
    ("changes", "tone", "title"),
    [
        ({"epsilon": math.inf, "leaks": (Leak("x", "y"),)}, "bad", "No privacy guarantee"),
        ({"seeded": True}, "bad", "The noise was not secret"),
        ({"epsilon": 14.0, "claimed_epsilon": 1.0}, "bad", "The claimed epsilon of 1 is not true"),
        ({"epsilon": 14.0}, "caution", "Epsilon 14 is large"),
    ],
)  # fmt: skip
def test_what_does_not_hold_is_said_aloud(changes, tone, title):
    said = words(**changes)
    assert said.tone == tone
    assert any(alert.title.startswith(title) for alert in said.alerts)


def test_without_a_finite_epsilon_nothing_is_promised():
    said = words(epsilon=math.inf)
    assert said.epsilon == "∞"
    assert said.beliefs == ()
    assert "nothing is promised" in said.headline


def test_delta_voids_the_bets_and_is_named():
    said = words(delta=1e-5)
    assert said.beliefs == ()
    assert "1e-05" in said.meaning


def test_delta_is_explained():
    said = words("ensemble", delta=1e-6, noisy_records=45_000, records_error=100)
    assert said.delta_chance == "1 in 1,000,000"
    assert "may fail with a probability of delta = 1e-06, 1 in 1,000,000" in said.delta_meaning[0]
    assert "about 22 times smaller than one in 45,000" in said.delta_meaning[1]
    large = words(delta=0.1, noisy_records=50, records_error=10).delta_meaning[1]
    assert "Here it is not smaller than one in 50" in large
    assert words(delta=0.0).delta_meaning == ()
    assert words(delta=1e-30).delta_chance.startswith("less than 1 in")
    assert words(epsilon=math.inf, delta=0.1).delta_meaning == ()


def test_an_ensemble_is_called_one():
    texts = [words("ensemble", epsilon=epsilon) for epsilon in (0.1, 9.0, math.inf)]
    for said in texts:
        assert "tree" not in f"{said.meaning} {said.terms} {[a.text for a in said.alerts]}"
    assert "than an ensemble that was trained without that person" in texts[0].meaning


def test_neighbours_that_replace_are_told_so():
    said = words(neighbours="replace")
    assert "Whatever one record says" in said.meaning
    assert "says one thing and not another" in said.about


def test_amounts_are_shown_rounded_up():
    assert Decimal(words(epsilon=0.10000001).epsilon) > Decimal("0.1")


# --- units ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.1, 5.0, math.inf])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_units_are_spoken_of_as_units(epsilon, neighbours):
    said = words(epsilon=epsilon, neighbours=neighbours, unit="patient_ID")
    texts = [said.headline, said.meaning, said.terms, said.about]
    texts += [alert.text for alert in said.alerts if alert.title.endswith("is large")]
    whole = " ".join(texts)
    for of_records in ("a whole record", "one record", "One record", "your record ", "a person "):
        assert of_records not in whole.replace("promise to a person", "")
    assert "records of one patient_ID" in said.meaning
    assert "that your records" in said.about
    assert "all records of one patient_ID" in said.terms
