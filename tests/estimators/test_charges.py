"""Training that stops at ``min_records``: the error, the charges, and what is not drawn."""

import pickle
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest
from people import SCHEMA, table

from privatree import (
    About,
    BudgetExceededError,
    ParameterError,
    PrivacyLeakWarning,
    PrivaTreeClassifier,
    TooFewRecordsError,
)
from privatree.estimators._charges import Charges
from privatree.privacy import Budget, Ledger
from privatree.privacy.mechanisms import Geometric
from privatree.sources import ArrowSource

MANY = replace(SCHEMA, min_records=200)
NUMBER, TREE = "PrivaTreeClassifier: number of records", "PrivaTreeClassifier: tree"


def model(epsilon=1.0, **changes):
    return PrivaTreeClassifier(epsilon, **({"schema": MANY, "random_state": 0} | changes))


def misspelt(n=600):
    frame, labels = table(n)
    return frame, np.char.upper(labels)


def charged(budget):
    return [(charge.purpose, charge.epsilon) for charge in budget.charges]


def test_misspelt_classes_cost_three_percent(account):
    budget = account(1.0)
    with pytest.raises(TooFewRecordsError) as caught:
        model(budget=budget).fit(*misspelt())
    assert charged(budget) == [(NUMBER, Fraction(3, 100))]
    assert budget.remaining == Fraction(97, 100)
    text = str(caught.value)
    assert "\n" not in text
    assert "at least min_records = 200 records with a label or target that fits the schema" in text
    assert f"about {max(0, caught.value.noisy_records)} (± 100)" in text
    assert "the wrong target, a misspelt class, an empty file and a wrong path" in text
    assert text.endswith(
        "epsilon 0.03 was spent on this number and charged to the budget, the other 0.97 was not."
    )


def test_without_a_budget_nothing_is_said_to_be_charged():
    with pytest.raises(TooFewRecordsError, match=r"spent on this number, the other 0\.97 was not"):
        model().fit(*misspelt())


def test_nothing_is_drawn_after_the_stop(monkeypatch):
    drawn = []
    for name in ("release", "open_draw"):
        real = getattr(Ledger, name)
        monkeypatch.setattr(
            Ledger,
            name,
            lambda self, *args, real=real, **how: (
                drawn.append(how["purpose"]) or real(self, *args, **how)
            ),
        )
    with pytest.raises(TooFewRecordsError):
        model().fit(*misspelt())
    assert drawn == ["number of records"]
    model().fit(*table())
    assert len(drawn) > 2


def test_enough_records_are_charged_in_two_steps_that_add_up(account):
    budget = account(1.0)
    fitted = model(0.1, budget=budget).fit(*table(6000))
    assert charged(budget) == [(NUMBER, Fraction(3, 1000)), (TREE, Fraction(97, 1000))]
    assert fitted.privacy_.epsilon == 0.1
    assert fitted.schema_.min_records == 200
    assert any("min_records = 200, as declared" in text for text in fitted.privacy_.public)


def test_without_min_records_there_is_one_charge_and_no_stop(account):
    budget = account(1.0)
    fitted = model(budget=budget, schema=SCHEMA).fit(*misspelt())
    assert charged(budget) == [("PrivaTreeClassifier", Fraction(1))]
    assert fitted.privacy_.has_few_records
    assert not any("min_records" in text for text in fitted.privacy_.public)


def test_where_nothing_stops_min_records_changes_no_tree():
    with_it, without = (model(schema=s).fit(*table()) for s in (MANY, SCHEMA))
    same = [m.model_.to_dict()["tree"] for m in (with_it, without)]
    assert same[0] == same[1]
    assert with_it.privacy_.spends == without.privacy_.spends


def test_a_budget_that_does_not_cover_all_of_epsilon_is_not_charged_at_all(account):
    budget = account(0.5)
    with pytest.raises(
        BudgetExceededError,
        match=r"epsilon=1 was requested, but only 0\.5 of the budget is left",
    ):
        model(1.0, budget=budget).fit(*table())
    assert budget.charges == []


def test_what_somebody_else_takes_between_the_steps_is_not_spent_twice(account, monkeypatch):
    budget = account(1.0)
    real = Geometric.release

    def meanwhile(mechanism, *args):
        if len(budget.charges) == 1:
            budget.charge(0.5, purpose="another model")
        return real(mechanism, *args)

    monkeypatch.setattr(Geometric, "release", meanwhile)
    with pytest.raises(BudgetExceededError) as caught:
        model(1.0, budget=budget).fit(*table())
    text = str(caught.value)
    assert "the tree needs epsilon=0.97 of the budget, but somebody else took it" in text
    assert "Only the number of records was drawn and charged, for epsilon=0.03" in text
    assert charged(budget) == [(NUMBER, Fraction(3, 100)), ("another model", Fraction(1, 2))]


@pytest.mark.parametrize(("purpose", "left"), [(NUMBER, Fraction(97, 100)), (TREE, Fraction(0))])
def test_an_interrupt_leaves_what_was_charged_before_it(account, monkeypatch, purpose, left):
    budget = account(1.0)

    def interrupt(*_args, **_how):
        assert budget.charges[-1].purpose == purpose  # charged first, then drawn
        raise KeyboardInterrupt

    if purpose == NUMBER:
        monkeypatch.setattr(Geometric, "release", interrupt)
    else:
        monkeypatch.setattr(Ledger, "open_draw", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model(1.0, budget=budget).fit(*table())
    assert budget.remaining == left


@pytest.mark.parametrize(
    "changes",
    [
        {"dataset_size": 600},
        {"schedule": "robust"},
        {"schedule": "robust", "dataset_size": 600},
        {"neighbours": "replace"},
        {"neighbours": "replace", "dataset_size": 600},
    ],
    ids=str,
)
def test_the_number_is_drawn_wherever_there_is_a_least_one(changes):
    budget = Budget(1.0, neighbours=changes.get("neighbours", "add-remove"))
    with pytest.raises(TooFewRecordsError, match=r"epsilon 0\.03 was spent"):
        model(budget=budget, **changes).fit(*misspelt())
    assert charged(budget) == [(NUMBER, Fraction(3, 100))]
    fitted = model(**changes).fit(*table())
    spends = [s for s in fitted.privacy_.spends if s.purpose == "number of records"]
    (spend,) = spends
    halves = 2 if "neighbours" in changes else 1
    assert spend.epsilon == Fraction(3, 100) / halves
    assert fitted.privacy_.records_error == Geometric(spend.epsilon).error()
    assert abs(fitted.privacy_.noisy_records - 600) < 20 * fitted.privacy_.records_error


def test_the_statement_has_the_noisy_number_and_its_error():
    privacy = model(schema=SCHEMA).fit(*table()).privacy_
    assert privacy.records_error == 100
    assert privacy.noisy_records != 600  # by this seed
    assert abs(privacy.noisy_records - 600) < 400
    assert not privacy.has_few_records
    assert f"usable records              about {privacy.noisy_records} (± 100)" in str(privacy)
    for changes in ({"dataset_size": 500}, {"schedule": "robust"}, {"neighbours": "replace"}):
        unknown = model(schema=SCHEMA, **changes).fit(*table()).privacy_
        assert unknown.noisy_records is None
        assert "usable records" not in str(unknown)


def is_refused(records, seed):
    try:
        model(8.0, max_depth=1, random_state=seed).fit(*records)
    except TooFewRecordsError:
        return True
    return False


@pytest.mark.parametrize("n_records", [195, 203, 230])
def test_the_law_of_the_decision_is_that_of_the_noise(n_records):
    a, runs = np.exp(-0.24), 200  # 3% of epsilon 8
    gap = n_records - 200
    expected = a ** (gap + 1) / (1 + a) if gap >= 0 else 1 - a**-gap / (1 + a)  # P(noise < -gap)
    refused = sum(is_refused(table(n_records), seed) for seed in range(runs))
    assert abs(refused - runs * expected) <= 5.5 * np.sqrt(runs * expected * (1 - expected)) + 4


def test_an_unconfirmed_least_number_leaks_and_takes_no_budget():
    schema = replace(MANY, min_records_confirmed=False)
    with pytest.warns(PrivacyLeakWarning, match="min_records"):
        fitted = model(schema=schema).fit(*table())
    assert fitted.privacy_.epsilon == float("inf")
    with pytest.raises(ParameterError, match="Unconfirmed: min_records"):
        model(schema=schema, budget=Budget(1.0)).fit(*table())


def test_the_error_survives_pickling():
    error = pickle.loads(pickle.dumps(TooFewRecordsError("too few", 12, 100)))
    assert (str(error), error.noisy_records, error.records_error) == ("too few", 12, 100)


# --- the name of the target ---------------------------------------------------------------------


def source(target):
    frame, labels = table()
    return ArrowSource(frame.assign(**{target: labels}), target=target)


def test_a_source_tells_its_target():
    fitted = model(schema=SCHEMA).fit(source("vote"))
    assert fitted.schema_.about == About(target="vote")
    assert fitted.model_.tree_.schema == fitted.schema_
    assert fitted.schema == SCHEMA  # parameters stay as they were
    titled = replace(SCHEMA, about=About(title="Votes"))
    assert model(schema=titled).fit(source("vote")).schema_.about == About("Votes", "vote")


def test_the_schema_comes_first():
    named = replace(SCHEMA, about=About(target="the vote of 2026"))
    assert model(schema=named).fit(source("vote")).schema_ == named


@pytest.mark.parametrize("target", ["two\nlines", "x" * 201, " "])
def test_an_odd_name_is_left_out(target):
    assert model(schema=SCHEMA).fit(source(target)).schema_.about is None


def test_records_in_memory_have_no_target_but_the_declared_one():
    frame, labels = table()
    named = frame.assign(vote=labels)
    assert model(schema=SCHEMA).fit(frame, named["vote"]).schema_ == SCHEMA


def test_a_budget_is_charged_for_the_unit_of_the_training():
    frame, labels = table(600)
    ids = np.arange(600) // 2
    for units, unit, counted in ((None, None, "records"), (ids, "unit", "units")):
        other = Budget(1.0, unit=None if unit else "unit")
        with pytest.raises(ParameterError, match="cannot be added up"):
            model(budget=other).fit(frame, labels, units=units)
        assert not other.charges
        budget = Budget(1.0, unit=unit)
        model(budget=budget).fit(frame, labels, units=units)
        assert charged(budget)[0][0] == f"PrivaTreeClassifier: number of {counted}"


def test_a_store_is_charged_for_the_unit_of_the_source(account):
    frame, labels = table(600)
    source = ArrowSource(frame.assign(target=labels, who=np.arange(600) // 2), "target", unit="who")
    budget = account(1.0, unit="who")
    model(budget=budget).fit(source)
    assert (budget.unit, budget.remaining) == ("who", 0)


def test_a_training_with_units_that_stops_says_what_was_counted():
    frame, labels = misspelt()
    with pytest.raises(TooFewRecordsError, match="min_records = 200 units with a label"):
        model().fit(frame, labels, units=np.arange(600))


# --- delta --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SomePlan:
    """3% of epsilon are for the number of records."""

    min_records: int | None = 200
    epsilon: Fraction = Fraction(1, 2)
    size_epsilon: Fraction = Fraction(15, 1000)


def boosting(budget, plan=None, **more):
    names = {"learner": "PrivaBoostClassifier", "drawn": "ensemble"}
    return Charges(
        budget, 1.0, "add-remove", None, plan or SomePlan(), **({"delta": 1e-6} | names | more)
    )


DELTA = Fraction(1, 10**6)


def test_delta_is_charged_with_the_rest(account):
    budget = account(3.0, delta=1e-5)
    charges = boosting(budget)
    charges.charge_first()
    assert (budget.remaining, budget.remaining_delta) == (Fraction(297, 100), 10 * DELTA)
    charges.charge_rest()
    assert [(charge.purpose, charge.epsilon, charge.delta) for charge in budget.charges] == [
        ("PrivaBoostClassifier: number of records", Fraction(3, 100), 0),
        ("PrivaBoostClassifier: ensemble", Fraction(97, 100), DELTA),
    ]


def test_a_budget_that_does_not_cover_delta_is_not_charged_at_all(account):
    budget = account(3.0, delta=5e-7)
    with pytest.raises(BudgetExceededError, match="delta=1e-06 was requested, but only 5e-07 of"):
        boosting(budget).charge_first()
    assert budget.charges == []


def test_without_min_records_epsilon_and_delta_are_one_charge(account):
    budget = account(3.0, delta=1e-5)
    charges = boosting(budget, SomePlan(min_records=None))
    charges.charge_first()
    charges.charge_rest()
    (charge,) = budget.charges
    assert (charge.purpose, charge.epsilon, charge.delta) == ("PrivaBoostClassifier", 1, DELTA)


@pytest.mark.parametrize("min_records", [200, None])
def test_a_budget_without_a_delta_refuses_one_before_anything_is_drawn(account, min_records):
    budget, plan = account(3.0), SomePlan(min_records)
    with pytest.raises(BudgetExceededError, match=r"has no delta.*Train with delta=0"):
        boosting(budget, plan).charge_first()
    assert budget.charges == []
    boosting(budget, plan, delta=0).charge_first()
    assert len(budget.charges) == 1


def test_a_delta_that_somebody_else_took_between_the_steps_is_not_spent_twice(account):
    budget = account(3.0, delta=1e-6)
    charges = boosting(budget)
    charges.charge_first()
    budget.charge(0.5, delta=1e-6, purpose="another model")
    with pytest.raises(BudgetExceededError) as caught:
        charges.charge_rest()
    assert str(caught.value) == (
        "PrivaBoostClassifier: the ensemble needs epsilon=0.97 and delta=1e-06 of the budget, but "
        "somebody else took it in the meantime. Only the number of records was drawn and charged, "
        "for epsilon=0.03. Lower epsilon or delta."
    )
    assert len(budget.charges) == 2


def test_a_training_that_stops_has_not_spent_its_delta():
    charges = boosting(Budget(3.0, delta=1e-5))
    charges.charge_first()
    assert charges.explain_stop().endswith(
        "epsilon 0.03 was spent on this number and charged to the budget, the other 0.97 was not, "
        "nor was delta."
    )


@pytest.mark.parametrize("delta", [-1e-6, 1, float("nan"), "0"])
def test_a_bad_delta_is_refused(delta):
    with pytest.raises(ParameterError, match="delta must be"):
        boosting(None, delta=delta)
