"""Notes about a tree: what was simplified, a tree without questions, classes without records."""

from fractions import Fraction

import pytest
from people import SCHEMA, table

from privatree import PrivaTreeClassifier, Schema
from privatree.estimators._notes import tree_notes
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
