"""Names that can be shown, and a tree that is otherwise the same."""

from privatree.model import TreeBuilder
from privatree.report._shown_names import MAX_NAME_LENGTH, escape_shown_text, shorten_shown_names
from privatree.schema import Categorical, Numeric, Schema


def a_tree(schema):
    builder = TreeBuilder(schema)
    for label, node in enumerate(builder.split_categories(builder.root, 1, [1])):
        builder.leaf(node, label)
    return builder.build()


def test_short_names_stay_as_they_are():
    tree = a_tree(Schema({"a": Numeric(0, 1), "b": Categorical([1, 2.5])}, [True, False]))
    assert shorten_shown_names(tree) is tree


def test_long_names_are_cut_and_told_apart():
    long = "n" * 1000
    categories = [f"{long}1", "short", f"{long}2"]
    tree = a_tree(
        Schema(
            {long: Numeric(0, 1), "b": Categorical(categories, missing="short")},
            [10**2000, 10**2000 + 1],
        )
    )
    short = shorten_shown_names(tree)
    first, second = short.schema.features
    assert (len(first), second) == (MAX_NAME_LENGTH, "b")
    found = short.schema.features["b"]
    assert found.categories[1] == found.missing == "short"
    assert len(set(found.categories)) == 3
    assert all(isinstance(label, str) and len(label) < 120 for label in short.schema.classes)
    assert short.left_codes(0) == tree.left_codes(0)


def test_control_and_direction_characters_are_written_out():
    assert escape_shown_text("plain مرحبا\nline") == "plain مرحبا\nline"
    assert escape_shown_text("a\u202eb\x00c") == "a\\u202eb\\x00c"
