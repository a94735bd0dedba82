"""Notes about a tree: what was simplified, a tree without questions, classes without records."""

import re
from fractions import Fraction

import pytest
from people import SCHEMA, table

from privatree import PrivaBoostRegressor, PrivaTreeClassifier, PrivaTreeRegressor, Schema, Target
from privatree.estimators._notes import signal_notes, tree_notes
from privatree.model import TreeBuilder

RARE = "Few or no records have these classes: "


def leaf(counts, classes=("no", "yes")):
    builder = TreeBuilder(Schema(SCHEMA.features, classes))
    shares = [1 / len(classes)] * len(classes)
    builder.leaf(0, 0, shares, counts, 0 if counts is None else 3)
    return builder.build()


def split(counts):
    builder = TreeBuilder(SCHEMA)
    for node in builder.split_numeric(0, 0, 50.0):
        builder.leaf(node, 0, [0.5, 0.5], counts, 3)
    return builder.build()


def test_a_tree_with_questions_and_records_needs_no_note():
    assert tree_notes(split([90, 90]), split([90, 90]), Fraction(1)) == []


def test_a_simplified_tree_and_one_without_questions_say_so():
    simplified, no_questions = tree_notes(split([90, 90]), leaf([180, 180]), Fraction(1))
    assert simplified.startswith("The tree was simplified from released values alone")
    assert no_questions.startswith("The tree has no questions")


@pytest.mark.parametrize(("count", "is_noted"), [(-4, True), (3, True), (4, False)])
def test_a_class_within_the_error_of_none_is_named(count, is_noted):
    notes = tree_notes(leaf([90, count]), leaf([90, count]), Fraction(1))  # the error is 3
    assert any(note.startswith(f"{RARE}'yes'. Are they spelt") for note in notes) is is_noted


def test_where_the_error_is_a_large_part_of_all_records_no_class_is_named():
    few = leaf([30, 2])  # the error is 3
    assert not any(RARE in note for note in tree_notes(few, few, Fraction(1)))


def test_without_counts_no_class_is_named():
    assert not any(RARE in note for note in tree_notes(leaf(None), leaf(None), Fraction(0)))


def test_many_classes_and_long_ones_are_cut():
    classes = ["x" * 20_000, *(f"c{k}" for k in range(1, 9)), "many"]
    drawn = leaf([0] * 9 + [90], classes)
    (*_, note) = tree_notes(drawn, drawn, Fraction(1))
    assert len(note) < 300
    assert note.endswith("'c4', 4 more. Are they spelt as in the records?")


def test_a_misspelt_class_that_few_records_have_is_noted():
    frame, labels = table(6000)
    schema = Schema(SCHEMA.features, ["no", "Yes"], min_records=1000)
    fitted = PrivaTreeClassifier(1.0, schema=schema, random_state=0).fit(frame, labels)
    assert f"{RARE}'Yes'. Are they spelt as in the records?" in fitted.privacy_.notes
    right = PrivaTreeClassifier(1.0, schema=SCHEMA, random_state=0).fit(frame, labels)
    assert not any(RARE in note for note in right.privacy_.notes)


# --- too few records to predict a number ----------------------------------------------------------

FEW = "There are few records for this epsilon: their number times epsilon is about "
NUMBER = Schema(SCHEMA.features, target=Target(0, 100))


@pytest.mark.parametrize(("size", "is_noted"), [(1, True), (199, True), (200, False)])
def test_few_records_for_the_epsilon_are_noted(size, is_noted):
    notes = signal_notes(NUMBER, size, Fraction(1, 2))
    assert [note.startswith(f"{FEW}{size / 2:.2g}. Below about 100, ") for note in notes] == (
        [True] * is_noted
    )


def test_classes_need_fewer():
    assert signal_notes(SCHEMA, 1, Fraction(1, 2)) == []


@pytest.mark.parametrize("learner", [PrivaTreeRegressor, PrivaBoostRegressor])
@pytest.mark.parametrize(
    ("parameters", "shown"),
    [
        ({}, r"\d+(\.\d+)?"),
        ({"dataset_size": 300}, "30"),
        ({"neighbours": "replace"}, "20"),  # half of epsilon for each of two changes
        ({"epsilon": 1.0}, None),
    ],
)
def test_the_note_follows_from_what_is_released_or_public(learner, parameters, shown):
    frame, _ = table(400)
    targets = [50.0] * 400
    model = learner(**{"epsilon": 0.1} | parameters, schema=NUMBER, random_state=0)
    notes = [note for note in model.fit(frame, targets).privacy_.notes if note.startswith(FEW)]
    if shown is None:
        assert notes == []
        return
    (note,) = notes
    assert re.match(f"{re.escape(FEW)}{shown}\\. Below", note)
    if not parameters:
        noisy = max(1, model.privacy_.noisy_records)
        assert note.startswith(f"{FEW}{noisy * 0.1:.2g}. ")


def test_nothing_is_said_of_a_number_of_records_that_nobody_knows():
    """A robust tree with a declared interval needs no number of records, and draws none."""
    frame, _ = table(400)
    learner = PrivaTreeRegressor(
        0.1, schema=NUMBER, schedule="robust", interval=(0, 100), random_state=0
    )
    privacy = learner.fit(frame, [50.0] * 400).privacy_
    assert privacy.noisy_records is None
    assert not [note for note in privacy.notes if note.startswith(FEW)]
