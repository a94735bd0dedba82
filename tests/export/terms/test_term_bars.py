from __future__ import annotations

import pytest
from made_up_terms import FUNCTIONS, ensemble_of, number_ensemble_of

from privatree.export import term_bars
from privatree.model.ensemble import Ensemble, Round, Step
from privatree.model.terms import ensemble_terms
from privatree.schema import Numeric, Schema, Target


def test_the_strongest_terms_have_the_longest_bars() -> None:
    terms = ensemble_terms(ensemble_of())
    lines = term_bars(terms).split("\n")
    assert lines[0].startswith("7 rounds, each with a function of at most 2 features; 4 of 4")
    mean = terms.intercept[0]
    assert lines[1] == f"The log-odds of ill are {mean:.3f} plus the sum of {len(terms)} terms."
    rows = lines[4 : 4 + len(terms)]
    assert [row.split("  ")[0].strip() for row in rows] == [" and ".join(t.names) for t in terms]
    assert [row.count("█") for row in rows] == sorted((r.count("█") for r in rows), reverse=True)
    assert rows[0].count("█") == 20
    assert len({len(row) for row in rows} | {len(lines[3])}) == 1
    for row, term in zip(rows, terms, strict=True):
        assert f"  {term.strength:.3f}  " in row
        assert row.endswith(f"  {term.beyond_chance:.1%}")


def test_weak_terms_are_counted() -> None:
    terms = ensemble_terms(ensemble_of())
    lines = term_bars(terms, 2).split("\n")
    assert lines[6] == f"… and {len(terms) - 2} weaker terms, up to {terms[2].strength:.3f}"
    lines = term_bars(terms, len(terms) - 1).split("\n")
    assert lines[len(terms) + 3].startswith("… and 1 weaker term, up to")


def test_many_classes_and_strange_names() -> None:
    text = term_bars(ensemble_of(*FUNCTIONS, classes=("a", "b", "c")))
    assert "The score of each of 3 classes is its mean plus the sum of" in text
    schema = Schema({"a\nb\x1b[31m": Numeric(0, 1), "x" * 300: Numeric(0, 1)}, ["no", "yes"])
    functions = (Step(0, 1, (0.5,)), Step(1, 1, (0.5,)))
    rounds = tuple(Round(one, (-1, 1)) for one in functions)
    text = term_bars(Ensemble(schema, 0.5, rounds))
    assert "\x1b" not in text
    assert max(map(len, text.split("\n"))) < 100


def test_monotone_terms_and_ensembles_that_say_nothing() -> None:
    schema = Schema({"x": Numeric(0, 1)}, ["no", "yes"])
    rounds = (Round(Step(0, -1, (0.5,)), (-1, 1)),)
    assert "monotone" in term_bars(Ensemble(schema, 0.5, rounds, {}, {0: 1}))
    assert term_bars(ensemble_of(Step(0, 1, ()))).endswith("plus the sum of 0 terms.")


@pytest.mark.parametrize(("step", "digits"), [(0.25, 3), (25.0, 1), (2500.0, 0), (2.5e-5, 7)])
def test_of_a_number_strengths_are_in_its_unit(step: float, digits: int) -> None:
    terms = ensemble_terms(number_ensemble_of(step=step))
    lines = term_bars(terms).split("\n")
    assert lines[1:3] == [
        f"The prediction is {terms.intercept[0]:.6g} plus the sum of {len(terms)} terms, clipped "
        "to the",
        "range of the target from 0 to 60.",
    ]
    assert f" {terms[0].strength:.{digits}f}  ████" in lines[5]
    assert lines[-3].startswith("strength: mean effect on the prediction, up to the sign")
    assert max(map(len, lines)) < 100


def test_of_a_number_that_ranges_over_powers_of_ten_the_logarithm_is_a_sum() -> None:
    text = term_bars(number_ensemble_of(target=Target(0, 1e6, log=True)))
    assert "\nThe logarithm of 1 plus the prediction is " in text
