"""Names that can be shown, and a schema that is otherwise the same."""

from privatree.report._shown_names import MAX_NAME_LENGTH, escape_shown_text, shorten_shown_schema
from privatree.schema import Categorical, Numeric, Schema


def test_short_names_stay_as_they_are():
    schema = Schema({"a": Numeric(0, 1), "b": Categorical([1, 2.5])}, [True, False])
    assert shorten_shown_schema(schema) is schema


def test_long_names_are_cut_and_told_apart():
    long = "n" * 1000
    categories = [f"{long}1", "short", f"{long}2"]
    schema = Schema(
        {long: Numeric(0, 1), "b": Categorical(categories, missing="short")},
        [10**2000, 10**2000 + 1],
    )
    short = shorten_shown_schema(schema)
    first, second = short.features
    assert (len(first), second) == (MAX_NAME_LENGTH, "b")
    found = short.features["b"]
    assert found.categories[1] == found.missing == "short"
    assert len(set(found.categories)) == 3
    assert all(isinstance(label, str) and len(label) < 120 for label in short.classes)


def test_control_and_direction_characters_are_written_out():
    assert escape_shown_text("plain مرحبا\nline") == "plain مرحبا\nline"
    assert escape_shown_text("a\u202eb\x00c") == "a\\u202eb\\x00c"
