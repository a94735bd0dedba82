import pytest

from privatree import Categorical, Numeric, Schema
from privatree.audit._outcome_words import outcome_describer
from privatree.audit._views import VIEWS

SCHEMA = Schema({"x": Numeric(0, 1), "c": Categorical(["a", "b", "c"])}, ["no", "yes"])
LEAF, OTHER = (0,), (1,)
CASES = {
    "leaf": ("tree", LEAF, "always no"),
    "tree": ("tree", (0, 0.5, LEAF, OTHER), "if x <= 0.5 then no else yes"),
    "deeper": (
        "tree",
        (0, 1 / 3, LEAF, (1, (0, 2), LEAF, OTHER)),
        "if x <= 0.333333 then no else (if c in {a, c} then no else yes)",
    ),
    "no-splits": ("splits", (), "a single leaf"),
    "one-split": ("splits", (0, (), ()), "x"),
    "splits": ("splits", (0, (1, (), ()), (0, (), ())), "x, below it c and x"),
    "root-leaf": ("root", (1,), "a leaf that predicts yes"),
    "root-number": ("root", (0, 0.25), "x <= 0.25"),
    "root-category": ("root", (1, (1,)), "c in {b}"),
    "magnitude": ("magnitude", -3, "-3"),
    "labels": ("labels", ("no", "yes"), "no, yes"),
    "members": ("members", ("0.0", "1.0"), "0.0, 1.0"),
    "probabilities": ("probabilities", (20, 0), "(20, 0)"),
    "warnings": ("said", ("FutureWarning", "UserWarning"), "FutureWarning, UserWarning"),
    "own": ("mine", 5, "5"),
}


@pytest.mark.parametrize(("view", "outcome", "words"), CASES.values(), ids=list(CASES))
def test_what_is_seen_in_words(view, outcome, words):
    assert outcome_describer(view, SCHEMA, [outcome, None, ("error", "no")])(outcome) == words


@pytest.mark.parametrize("view", [*VIEWS, "mine"])
def test_errors_and_nothing_have_words_by_every_view(view):
    say = outcome_describer(view, SCHEMA, [None, ("error", "ValueError: no")])
    assert say(("error", "ValueError: no")) == "the error 'ValueError: no'"
    assert say(None) == "none"
    assert outcome_describer(view, SCHEMA, [()])(()) == (
        "a single leaf" if view == "splits" else "none"
    )


def test_of_what_models_list_only_the_difference_is_told():
    common = ("n_features_in_", "1")
    more, less = (common, ("shape of classes_", "(2,)")), (common,)
    say = outcome_describer("listed", SCHEMA, [more, less, (), None, ("error", "no"), more])
    assert say(more) == "shape of classes_ = (2,)"
    assert say(less) == "only what is in all models"
