import pickle
from dataclasses import replace
from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privatree import About, Numeric, Schema, SchemaError

FEATURES = {"age": Numeric(0, 120)}
WHOLE = About(
    title="Readmission",
    target="back again",
    description="One row per stay.\n\nAll wards.",
    intended_use="Planning, never for one patient.",
    owner="Quality office",
    date="2026-11-18",
)
TOML = 'classes = [0, 1]\n[about]\n{}\n[features.age]\nkind = "numeric"\nlow = 0\nhigh = 120\n'


def read(tmp_path, text):
    path = tmp_path / "schema.toml"
    path.write_text(TOML.format(text), encoding="utf-8")
    return Schema.from_toml(path)


def test_texts_survive_toml_json_and_pickle(tmp_path):
    schema = Schema(FEATURES, [0, 1], about=WHOLE)
    schema.to_toml(tmp_path / "schema.toml")
    assert Schema.from_toml(tmp_path / "schema.toml") == schema
    assert Schema.from_dict(schema.to_dict()) == schema
    assert pickle.loads(pickle.dumps(schema)).about == WHOLE
    assert schema != Schema(FEATURES, [0, 1])
    assert hash(schema) != hash(Schema(FEATURES, [0, 1]))


def test_texts_survive_confirming_and_marking():
    schema = Schema(FEATURES, [0, 1], about=WHOLE)
    assert schema.confirmed().about == schema.all_unconfirmed().about == WHOLE
    assert schema.unconfirmed == ()  # a person wrote them


def test_a_schema_without_texts_is_written_as_before():
    for about in (None, About(), About(title="", description=" \n", date="")):
        schema = Schema(FEATURES, [0, 1], about=about)
        assert schema.about is None
        assert list(schema.to_dict()) == ["classes", "features"]
        assert schema == Schema(FEATURES, [0, 1])


def test_blanks_around_texts_do_not_matter():
    assert About(title="  A tree\n").title == "A tree"


def test_toml_may_write_the_day_without_quotes(tmp_path):
    assert read(tmp_path, "date = 2026-11-18").about == About(date="2026-11-18")
    assert About(date=date(2026, 11, 18)) == About(date="2026-11-18")
    assert read(tmp_path, "").about is None


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"title": 3}, "title must be text, got 3"),
        ({"owner": ["a"]}, r"owner must be text, got \['a'\]"),
        ({"title": "x" * 201}, "title must have at most 200 characters, got 201. Shorten it."),
        ({"description": "x" * 5001}, "description must have at most 5000 characters, got 5001"),
        ({"title": "two\nlines"}, "title must be one line, got 'two"),
        ({"target": "two\u2028lines"}, "target must be one line"),
        ({"owner": "\ud800"}, "owner must be valid Unicode"),
        ({"date": "18.11.2026"}, "date must be a day such as 2026-11-18, got '18.11.2026'"),
        ({"date": "20261118"}, "date must be a day"),
        ({"date": "2026-02-30"}, "date must be a day"),
        ({"date": datetime(2026, 11, 18, 9)}, "date must be a day"),
        ({"date": 2026}, "date must be a day such as 2026-11-18, got 2026"),
    ],
)
def test_about_refuses(texts, message):
    with pytest.raises(SchemaError, match=message):
        About(**texts)


def test_texts_may_have_their_full_length():
    assert len(About(title="x" * 200, description="y" * 5000).description) == 5000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("titles = 'a'", "'about' has the unknown key 'titles'.*Did you mean 'title'"),
        ("title = 1", "about: title must be text, got 1"),
        ("date = 2026-11-18T09:00:00", "about: date must be a day"),
    ],
)
def test_mistakes_in_toml_name_the_file_and_the_table(tmp_path, text, message):
    with pytest.raises(SchemaError, match=f"schema.toml: {message}"):
        read(tmp_path, text)


@pytest.mark.parametrize("written", [[], "text", 3, None])
def test_from_dict_needs_a_table(written):
    with pytest.raises(SchemaError, match="'about' must be a table of title, target"):
        About.from_dict(written)


def test_a_schema_needs_an_about_object():
    with pytest.raises(SchemaError, match="about must be an About or None, got 'Readmission'"):
        Schema(FEATURES, [0, 1], about="Readmission")


@pytest.mark.slow
@given(
    about=st.builds(
        About,
        title=st.none() | st.text(st.characters(categories=["L", "N", "P", "S"]), max_size=200),
        description=st.none() | st.text(max_size=300).filter(lambda text: text.strip() == text),
        date=st.none() | st.dates().map(date.isoformat),
    )
)
def test_every_text_survives_toml(tmp_path_factory, about):
    path = tmp_path_factory.getbasetemp() / "about.toml"
    schema = Schema(FEATURES, [0, 1], about=about)
    schema.to_toml(path)
    assert Schema.from_toml(path) == schema


# --- the least number of records ----------------------------------------------------------------


def test_the_least_number_of_records_survives_toml(tmp_path):
    schema = Schema(FEATURES, [0, 1], min_records=500)
    schema.to_toml(tmp_path / "schema.toml")
    assert (
        (tmp_path / "schema.toml")
        .read_text()
        .startswith("classes = [0, 1]\nmin_records = 500\n\n[features.age]")
    )
    assert Schema.from_toml(tmp_path / "schema.toml") == schema
    assert schema != Schema(FEATURES, [0, 1], min_records=501)
    assert pickle.loads(pickle.dumps(schema)).min_records == 500


def test_the_least_number_of_records_can_be_unconfirmed(tmp_path):
    schema = Schema(FEATURES, [0, 1], min_records=500, min_records_confirmed=False)
    assert schema.unconfirmed == (("min_records",),)
    assert schema.shown_unconfirmed() == "min_records"
    schema.to_toml(tmp_path / "schema.toml")
    assert 'unconfirmed = ["min_records"]' in (tmp_path / "schema.toml").read_text()
    assert Schema.from_toml(tmp_path / "schema.toml") == schema
    assert schema.confirmed() == Schema(FEATURES, [0, 1], min_records=500)
    marked = Schema(FEATURES, [0, 1], min_records=500).all_unconfirmed()
    assert marked.unconfirmed[:2] == (("classes",), ("min_records",))
    assert marked.shown_unconfirmed() == "classes; min_records; 'age'"
    assert Schema(FEATURES, [0, 1]).all_unconfirmed().shown_unconfirmed() == "classes; 'age'"


@pytest.mark.parametrize("value", [0, -1, 2**40 + 1, 1.5, 100.0, True, "100", [100]])
def test_the_least_number_of_records_must_be_a_whole_number(value):
    with pytest.raises(SchemaError, match="min_records must be a whole number from 1 to"):
        Schema(FEATURES, [0, 1], min_records=value)


def test_a_mark_needs_its_number(tmp_path):
    with pytest.raises(SchemaError, match="min_records must be given where it is marked"):
        Schema(FEATURES, [0, 1], min_records_confirmed=False)
    schema = Schema(FEATURES, [0, 1], min_records=5, min_records_confirmed=False)
    assert replace(schema, min_records=7).unconfirmed == (("min_records",),)


def test_the_printed_text_has_one_line_per_entry_and_hides_nothing():
    assert str(About(target="ill")) == "predicts      ill"
    text = str(replace(WHOLE, owner="a\x1b[2Jb", description="word " * 40))
    lines = text.splitlines()
    assert lines[0] == "Readmission"
    assert lines[1] == "predicts      back again"
    assert all(len(line) <= 96 for line in lines)
    assert "\x1b" not in text
    assert "owner         a\\x1b[2Jb" in lines
