import codecs
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privatree import Categorical, CsvDialect, Schema, SchemaError
from privatree.estimators import schema_leaks
from privatree.privacy import SCHEMA_LEAK

FEATURES, CLASSES = {"a": Categorical(["x"])}, ["no", "yes"]


def test_the_default_is_what_most_programs_write():
    usual = CsvDialect()
    assert (usual.of_file(is_tab_separated=False).delimiter, usual.decimal) == (",", ".")
    assert (usual.quote, usual.escape, usual.multiline) == ('"', None, False)
    assert usual.of_file(is_tab_separated=True).delimiter == "\t"
    assert CsvDialect(delimiter=",").of_file(is_tab_separated=True).delimiter == ","
    assert usual.to_dict() == {}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delimiter": ""}, "delimiter must be one ASCII character"),
        ({"delimiter": ";;"}, "delimiter must be one ASCII character"),
        ({"delimiter": "\n"}, "and not a line break"),
        ({"delimiter": "§"}, "delimiter must be one ASCII character"),
        ({"delimiter": 7}, "delimiter must be one ASCII character"),
        ({"quote": "\r"}, "quote must be one ASCII character"),
        ({"escape": "ab"}, "escape must be one ASCII character"),
        ({"quote": ",", "delimiter": ","}, "must be different characters"),
        ({"escape": '"'}, "must be different characters"),
        ({"decimal": ";"}, 'decimal must be "." or ","'),
        ({"decimal": None}, 'decimal must be "." or ","'),
        ({"encoding": "klingon"}, "encoding must be a character encoding that Python knows"),
        ({"encoding": 8}, "encoding must be a character encoding that Python knows"),
        ({"encoding": "utf\x008"}, "encoding must be a character encoding that Python knows"),
        ({"encoding": "hex"}, "must store each line break as a separate byte"),
        ({"multiline": "yes"}, "multiline must be True or False"),
        ({"multiline": True, "quote": None}, "multiline must be used with a quote"),
        ({"unconfirmed": ["speed"]}, "unconfirmed must list names among delimiter"),
    ],
)
def test_what_could_be_read_in_two_ways_is_refused(options, message):
    with pytest.raises(SchemaError, match=message):
        CsvDialect(**options)


@pytest.mark.parametrize(
    "encoding",
    [
        "utf-7",
        "utf-32",
        "iso2022_jp",
        "iso2022_kr",
        "hz",
        "cp037",
        "euc_jp",
        "gb18030",
        "rot13",
        "unicode_escape",
        "raw_unicode_escape",
    ],
)
def test_encodings_in_which_one_line_can_change_the_next_are_refused(encoding):
    with pytest.raises(SchemaError, match=r"each line break as a separate byte.*Convert the file"):
        CsvDialect(encoding=encoding)


@pytest.mark.slow
@pytest.mark.parametrize(
    "encoding", ["utf-8", "ascii", "latin-1", "cp1252", "koi8-r", "mac-roman", "shift_jis", "gbk",
                 "big5", "cp949"]
)  # fmt: skip
@given(before=st.binary(max_size=8), after=st.binary(max_size=8), cut=st.integers(0, 20))
def test_a_line_is_decoded_by_itself(encoding, before, after, cut):
    dialect = CsvDialect(encoding=encoding)
    decoder = codecs.getincrementaldecoder(dialect.encoding)("replace")
    before, after = before.replace(b"\n", b""), after.replace(b"\n", b"")
    content = before + b"\n" + after + b"\n"
    text = decoder.decode(content[:cut]) + decoder.decode(content[cut:], final=True)
    lines = [line.decode(dialect.encoding, "replace") for line in (before, after)]
    assert text == "\n".join(lines) + "\n"


def test_other_names_of_the_same():
    assert CsvDialect(encoding="UTF8") == CsvDialect(encoding="utf-8-sig") == CsvDialect()
    assert CsvDialect(encoding="ISO-8859-1").encoding == "latin-1"
    assert CsvDialect(delimiter="tab") == CsvDialect(delimiter="\\t") == CsvDialect(delimiter="\t")


marks = st.sampled_from([";", "|", "\t", "'", '"', "\\", "x"])


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "delimiter": marks,
            "quote": marks | st.none(),
            "escape": marks | st.none(),
            "decimal": st.sampled_from(".,"),
            "encoding": st.sampled_from(["latin-1", "utf-16", "utf-8"]),
            "multiline": st.booleans(),
            "unconfirmed": st.sets(st.sampled_from(["delimiter", "escape", "multiline"])),
        },
    )
)
def test_it_is_written_and_read_as_it_is(options):
    try:
        dialect = CsvDialect(**options)
    except SchemaError:
        return
    assert CsvDialect.from_dict(dialect.to_dict()) == dialect
    schema = Schema(FEATURES, CLASSES, csv=dialect)
    assert Schema.from_dict(schema.to_dict()) == schema
    assert pickle.loads(pickle.dumps(schema)) == schema
    assert hash(schema) == hash(Schema(FEATURES, CLASSES, csv=dialect))


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (7, "'csv' must be a table of delimiter"),
        ({"delimeter": ";"}, r"'csv' has the unknown key 'delimeter'.*Did you mean 'delimiter'\?"),
        ({"delimiter": "no"}, "csv: delimiter must be one"),
        ({"escape": 5}, "csv: escape must be one"),
        ({"encoding": ["utf-8"]}, "csv: encoding must be a character encoding"),
    ],
)
def test_mistakes_in_a_file_are_told(written, message):
    with pytest.raises(SchemaError, match=message):
        Schema.from_dict(
            {"classes": CLASSES, "features": {}, "csv": written}
            | {"features": {"a": {"kind": "categorical", "categories": ["x"]}}}
        )
    with pytest.raises(SchemaError, match="csv must be a CsvDialect or None"):
        Schema(FEATURES, CLASSES, csv={"delimiter": ";"})


def test_options_change_it_and_confirm_what_they_change():
    read = CsvDialect(delimiter=";", escape="\\", decimal=",").all_unconfirmed()
    assert read.unconfirmed == ("delimiter", "decimal", "escape")
    changed = read.changed(delimiter="tab", escape="", decimal=None)
    assert changed == CsvDialect(delimiter="\t", decimal=",", unconfirmed=("decimal",))


def test_no_finite_epsilon_holds_while_it_is_unconfirmed():
    schema = Schema(FEATURES, CLASSES, csv=CsvDialect(decimal=",", unconfirmed=["decimal"]))
    assert schema.unconfirmed == (("csv", "decimal"),)
    assert schema.shown_unconfirmed() == "csv: decimal"
    assert [leak.name for leak in schema_leaks(schema)] == [SCHEMA_LEAK]
    assert schema.confirmed() == Schema(FEATURES, CLASSES, csv=CsvDialect(decimal=","))
    assert schema_leaks(schema.confirmed()) == ()
