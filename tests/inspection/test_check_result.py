from dataclasses import replace

from privatree import Numeric, Schema, SchemaCheck
from privatree.inspection._check_result import Misfit

SCHEMA = Schema({"age": Numeric(0, 100, unconfirmed=["high"])}, ["no", "yes"])


def test_the_text_has_everything_and_is_what_is_printed():
    checked = SchemaCheck(
        SCHEMA,
        [
            Misfit("age", "above the range", 12, ("130", "131")),
            Misfit("weight", "not in a.csv: fit will raise an error."),
        ],
        n_records=300,
        n_ragged=4,
        ignored=["id", "note"],
        not_utf8=["a.csv"],
        trimmed={"ward": 2, "ill": 1},
    )
    text = """\
Not private: this output reveals single records. Keep it to yourself.

300 records
  'age'      12  above the range, such as 130, 131
  'weight'  all  not in a.csv: fit will raise an error.
  (rows)      4  too few or too many values, or open quotes: left out
Everything else fits.
Not in the schema, so ignored: 'id', 'note'.
Blanks around values of 'ward' (2), 'ill' (1): trimmed here, not in Python frames.
a.csv: has bytes that are not text in its encoding, so letters beyond a to z are damaged. \
Pass --encoding.
Not yet confirmed in the schema: 'age': high. Check each against public knowledge and delete its \
line "unconfirmed"."""
    assert checked.to_text() == repr(checked) == str(checked) == text
    assert checked.to_text("my.toml") == text.replace(
        "confirmed in the schema", "confirmed in my.toml"
    )
    assert not checked.ok


def test_only_values_and_columns_that_do_not_fit_make_it_false():
    assert SchemaCheck(SCHEMA, n_records=1, ignored=["id"], trimmed={"ward": 1})
    assert not SchemaCheck(SCHEMA, n_ragged=1)
    assert not SchemaCheck(SCHEMA, [Misfit("age", "missing", 1)])


def test_few_usable_records_are_said_to_be_few():
    assert "can be used" not in SchemaCheck(SCHEMA, n_records=10).to_text()
    assert "can be used" not in SchemaCheck(SCHEMA, n_records=10, n_usable=5).to_text()
    assert "only 4 of 10 records" in SchemaCheck(SCHEMA, n_records=10, n_usable=4).to_text()
    assert "only 0 of 0 records" in SchemaCheck(SCHEMA, n_usable=0).to_text()
    declared = replace(SCHEMA, min_records=11)
    assert "fit will probably stop" in SchemaCheck(declared, n_records=10, n_usable=10).to_text()
    assert "stop" not in SchemaCheck(declared, n_records=11, n_usable=11).to_text()


def test_usable_records_are_counted_in_frames():
    schema = SCHEMA.confirmed()
    assert schema.check([[1], [2], [3]], ["no", "No", None]).n_usable == 1
    assert schema.check([[1], [2], [3]]).n_usable is None
