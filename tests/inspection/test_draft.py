import csv
import tomllib
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privatree import About, Categorical, Numeric, Schema
from privatree.errors import ParameterError
from privatree.inspection import (
    NextCommands,
    check_files_against_schema,
    draft_schema,
    profile_table,
)
from privatree.schema import CsvDialect
from privatree.sources import read_files_without_schema
from privatree.tables import read_features

COMMAND = NextCommands(["data.csv"], "ill", "schema.toml")
N = 40


def draft_of(is_csv=True, **columns):
    """The draft of some columns, each of N values."""
    labels = ["no", "yes"] * (N // 2)
    facts = profile_table(pa.table(columns), labels, trim=is_csv)
    return draft_schema(facts, COMMAND, is_csv=is_csv)


def about(draft, name):
    """What stands above and in the table of a column."""
    (block,) = [b for b in draft.text.split("\n\n") if f"[features.{name}]" in b]
    return block


def remark(draft, name):
    lines = [line for line in about(draft, name).splitlines() if line.startswith("#")]
    return " ".join(line.removeprefix("# ").strip() for line in lines)


def test_every_value_is_marked_and_the_file_reads_as_the_schema():
    draft = draft_of(age=list(range(N)), ward=["a", "b"] * 20, weight=[0.5] * N)
    assert (
        draft.schema
        == Schema(
            {
                "age": Numeric(0, N - 1, integer=True),
                "ward": Categorical(["a", "b"]),
                "weight": Numeric(0.5, 0.5),
            },
            ["no", "yes"],
            about=About(target="ill"),
        ).all_unconfirmed()
    )
    content = tomllib.loads(draft.text)
    assert Schema.from_dict(content) == draft.schema
    for name, table in content["features"].items():
        assert set(table["unconfirmed"]) == table.keys() - {"unconfirmed"}, name
    assert content["unconfirmed"] == ["classes"]
    assert draft.left_out == ()


def test_without_the_marked_lines_it_is_confirmed():
    draft = draft_of(age=list(range(N)), ward=["a", "b"] * 20)
    kept = [line for line in draft.text.splitlines() if not line.startswith("unconfirmed = ")]
    assert Schema.from_dict(tomllib.loads("\n".join(kept))) == draft.schema.confirmed()


def test_the_header_teaches_and_names_the_next_commands():
    facts = profile_table(pa.table({"a": [1, 2]}), [0, 1], trim=True)
    text = draft_schema(facts, NextCommands(["my data.csv"], "ill", "s.toml"), is_csv=True).text
    comments = [line for line in text.splitlines() if line.startswith("#")]
    assert all(len(line) <= 100 for line in comments)
    for words in (
        "DRAFT of a schema",
        "READ FROM THE RECORDS",
        'delete its line "unconfirmed"',
        "ten times too wide costs a point or two",
        "Do not publish",
        "#   privatree schema check s.toml 'my data.csv' --target ill\n",
        "#   privatree fit 'my data.csv' --target ill --schema s.toml --epsilon 1 -o model.json\n",
    ):
        assert words in text.replace("\n#    ", " ") or words in text


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([1, 2] * 20, "Whole numbers."),
        ([0.5, 2] * 20, "Numbers."),
        ([True, False] * 20, "Yes or no."),
        (["a", "b"] * 20, "Text: 2 categories."),
        (["a"] * 40, "Text: 1 category. All records have the same value"),
        ([7] * 40, "Whole numbers. All records have the same value"),
        (list(range(5000, 5040)), "Nearly every record has its own value: if the values identify"),
        ([1, None] * 20, "20 records with a missing value: it has a place of its own, about"),
        ([*["a"] * 39, None], "1 record with a missing value: it has a place of its own, about"),
        ([True, None] * 20, "The same holds for a value that is not in the list."),
        (["a", "Unknown", None, "b"] * 10, 'with a missing value: it counts as "Unknown". The'),
        (["separate", None] * 20, "value: it counts as the first category, unless a line miss"),
        (
            ["1", "2", "3", "x"] * 10,
            "Most values look like numbers: if they are amounts, write a table",
        ),
    ],
)
def test_each_kind_has_its_remark(values, said):
    assert said in remark(draft_of(x=values), "x")


def test_a_plain_column_has_a_short_remark():
    assert remark(draft_of(x=[0.25, 1.5] * 20), "x") == "Numbers."


def test_few_whole_numbers_can_be_codes_and_the_lines_to_write_are_there():
    draft = draft_of(x=[0, 1, 2, 7] * 10)
    assert "If the numbers are codes and not amounts" in remark(draft, "x")
    lines = [line.removeprefix("#").strip() for line in about(draft, "x").splitlines()]
    instead = "\n".join(line for line in lines if line.startswith(('kind = "cat', "categories")))
    assert tomllib.loads(instead) == {"kind": "categorical", "categories": [0, 1, 2, 7]}
    for others in ([0, 1] * 20, list(range(40)), [0.5, 1, 2, 3] * 10):
        assert "codes" not in remark(draft_of(x=others), "x")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([f"Secret {n}" for n in range(40)], "text with 40 different values in 40 records"),
        (pd.date_range("2020-01-01", periods=40), "dates and times cannot be split on"),
        ([b"bytes"] * 40, "of type binary, which is neither numbers nor text"),
        ([None] * 40, "no record has a value"),
        (["27.08.2023", "1.9.2023"] * 20, "text that looks like dates, and dates and times cannot"),
        (["2023-08-27"] * 37 + ["Secret"] * 3, "text that looks like dates"),
        (["08/27/2023 9:05", "08/28/23 10:00 PM"] * 20, "text that looks like dates"),
        (["2023-08-27T09:05:00+02:00", "2023-08-27 09:05:00.5"] * 20, "text that looks like dates"),
        ([f"{n},5" for n in range(40)], "text with 40 different values that look like numbers"),
        (["1.296,50", "1.296.000,50"] * 3 + [f"{n} 296,5" for n in range(34)],
         "text with 36 different values that look like numbers with"),
    ],
)  # fmt: skip
def test_what_cannot_or_should_not_be_used_is_left_out_and_named(values, said):
    draft = draft_of(odd=pa.array(values), fine=[1, 2] * 20)
    assert draft.left_out == ("odd",)
    assert draft.schema.names == ("fine",)
    assert f'# - "odd": {said}' in draft.text
    assert "Secret" not in draft.text


@pytest.mark.parametrize(
    "values",
    [["1.2.3", "4.5.6"], ["45.08.2023", "27.99.2023"], ["27.08.", "28.08."], ["10.0.0.1", "x"],
     ["2023", "2023-08"], ["a,b", "c,d"], ["1,", ","], ["A1,5", "A2,5"], ["123456 789", "1 23"]],
    ids=str,
)  # fmt: skip
def test_what_is_no_date_or_amount_is_plain_text(values):
    draft = draft_of(x=pa.array([*values, "other"] * 13 + ["other"]))
    assert draft.schema.features["x"].categories == tuple(sorted([*values, "other"]))
    assert remark(draft, "x") == "Text: 3 categories."


@pytest.mark.parametrize(
    ("values", "n_amounts"),
    [
        (["8,9", "10"], 20),
        (["1.296,50", "-3,5"], 40),
        (["1,296.50", "1,296"], 40),
        (["1\u00a0296", "1'296"], 40),
        (["1\u202f296,5", "12"], 20),
        (["1 296,5", ",5"], 40),
    ],
    ids=range(6),
)
@pytest.mark.parametrize("is_csv", [True, False])
def test_amounts_that_are_not_read_as_numbers_are_told(values, n_amounts, is_csv):
    said = remark(draft_of(is_csv, x=values * 20), "x")
    assert said == (
        f"Text: 2 categories. {n_amounts} records with text that looks like numbers with a decimal "
        "comma (then draft again with --decimal ',') or with separators between thousands (then "
        "remove the separators from the data)."
    )


def test_a_few_decimal_commas_among_numbers_are_told():
    said = remark(draft_of(x=[*map(str, range(100, 138)), "8,9", "unknown"]), "x")
    assert (
        "2 records with text that is not a number: it counts as missing. 1 record with text "
        in (said)
    )
    assert "looks like numbers with a decimal comma" in said


@pytest.mark.parametrize(
    "values",
    [["Ja", "ja"], ["Nord  Ost", "nord ost"], ["a   b" * 9, "A b" * 9], ["Stra\xdfe", "STRASSE"]],
)
def test_categories_and_labels_that_differ_as_typing_mistakes_do(values):
    first, second = sorted(values)
    words = f'differ in case or blanks only, as "{first}" and "{second}": if they mean the same'
    assert f"Some categories {words}" in remark(draft_of(x=values * 20), "x")
    labels = profile_table(pa.table({"x": range(40)}), values * 20, trim=True)
    text = draft_schema(labels, COMMAND, is_csv=True).text.replace("\n# ", " ")
    assert f"Some labels {words}" in text


def test_a_long_list_of_categories_is_wrapped():
    draft = draft_of(x=[f"category {n % 19}" for n in range(40)])
    assert max(map(len, draft.text.splitlines())) <= 100
    assert Schema.from_dict(tomllib.loads(draft.text)) == draft.schema


def test_very_many_categories_are_an_identifier_however_often_each_occurs():
    values = [f"c{n % 1001}" for n in range(4004)]
    table = pa.table({"a": values, "b": [1] * 4004})
    draft = draft_schema(profile_table(table, [0, 1] * 2002, trim=True), COMMAND, is_csv=True)
    assert draft.left_out == ("a",)


def test_numbers_with_a_few_words_between_are_numbers_in_a_csv_file_only():
    values = [*map(str, range(100, 138)), "unknown", "unknown"]
    draft = draft_of(x=values)
    assert draft.schema.confirmed().features["x"] == Numeric(
        100, 137, integer=True, missing="separate"
    )
    assert "2 records with text that is not a number: it counts as missing." in remark(draft, "x")
    assert "unknown" not in draft.text
    assert draft_of(is_csv=False, x=values, y=[1] * N).left_out == ("x",)


def test_blanks_around_text_do_not_count_in_a_csv_file():
    draft = draft_of(x=[" a", "a ", "b", "  "] * 10)
    assert draft.schema.features["x"] == Categorical(
        ("a", "b"), missing="separate", unconfirmed=["kind", "categories", "missing"]
    )
    assert "10 records with a missing value" in remark(draft, "x")
    exact = draft_of(is_csv=False, x=[" a", "a ", "b", "  "] * 10)
    assert exact.schema.features["x"].categories == ("  ", " a", "a ", "b")


def test_labels_are_talked_about():
    table = pa.table({"x": range(40)})
    many = profile_table(table, pa.array([*(f"n{i}" for i in range(39)), None]), trim=True)
    text = draft_schema(many, COMMAND, is_csv=True).text.replace("\n# ", " ")
    assert "39 different labels: is this the column to predict? 1 record without a label." in text


def test_a_table_without_a_feature_is_refused():
    with pytest.raises(ParameterError, match="a schema must have a feature"):
        draft_of(name=[f"n{i}" for i in range(40)])


# --- identifiers ------------------------------------------------------------------------------

MANY = 300


def draft_of_many(**columns):
    """The draft of some columns, each of MANY values."""
    labels = ["no", "yes", "no"] * (MANY // 3)
    frame = pd.DataFrame({**columns, "fine": [1, 2] * (MANY // 2)})
    return draft_schema(profile_table(frame, labels, trim=True), COMMAND, is_csv=True)


IDENTIFIERS = {
    "rows": list(range(MANY)),
    "long": [10**15 + 7919 * n for n in range(MANY)],
    "beyond 64 bits": [float(10**24 + 10**10 * n) for n in range(MANY)],
    "with decimals": [*map(float, range(1000, 1000 + MANY - 1)), None],
    "with words": [*(f"{n}" for n in range(1000, 1000 + MANY - 5)), *["none"] * 5],
    "of a few with two records": [n // 2 if n < 10 else n for n in range(MANY)],
    "short": [f"P{n:04}" for n in range(MANY)],
    "shorter": [f"{n:x}" for n in range(MANY)],
    "uuid": [str(UUID(int=n**9)) for n in range(MANY)],
    "coded": pd.Categorical([7 * n for n in range(MANY)]),
}


@pytest.mark.parametrize("kind", IDENTIFIERS)
def test_identifiers_of_every_kind_are_left_out_and_are_no_leak_of_the_answer(kind):
    draft = draft_of_many(label=IDENTIFIERS[kind])
    assert draft.left_out == ("label",)
    said = draft.text.replace("\n#   ", " ")
    assert f" different values in {MANY - (kind == 'with decimals')} records, so it looks" in said
    assert "This column alone determines" not in said


@pytest.mark.parametrize(
    "values",
    [
        [n**3 for n in range(MANY)],  # amounts crowd
        [n**3 / 7 for n in range(MANY)],
        [n % 90 for n in range(MANY)],
        [n // 2 for n in range(MANY)],
    ],
)
def test_amounts_are_kept(values):
    draft = draft_of_many(x=values)
    assert draft.left_out == ()
    nearly_all_differ = values[-1] == (MANY - 1) ** 3
    assert ("Nearly every record has its own value" in remark(draft, "x")) == nearly_all_differ


# --- columns that give the answer away ------------------------------------------------------------


def test_a_column_that_tells_the_label_is_kept_and_told():
    codes = [7, 3, 7] * (MANY // 3)
    draft = draft_of_many(code=codes, days=[None if code == 7 else 5.5 for code in codes])
    for name in ("code", "days"):
        assert (
            "This column alone determines the label of nearly every record: if its values are "
            in (remark(draft, name))
        )
    assert "follows from" not in remark(draft, "fine")
    assert draft.schema.names == ("code", "days", "fine")


# --- missing values -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "categories", "place"),
    [
        (["east", "west", None, "east"], ["east", "west"], "separate"),
        (["east", "separate", None, "east"], ["east", "separate"], None),
        (["east", "Unknown", None, "east"], ["Unknown", "east"], "Unknown"),
        (["east", "?", None, "east"], ["?", "east"], "?"),
        (["missing", "?", "unknown", None], ["?", "missing", "unknown"], "unknown"),
        (["east", "west", "unknown", "east"], ["east", "unknown", "west"], None),
    ],
)
def test_missing_values_get_a_category_for_them_or_a_place_of_their_own(values, categories, place):
    draft = draft_of(x=values * 10)
    feature = draft.schema.features["x"]
    marks = ["kind", "categories", *(["missing"] if place else [])]
    assert feature == Categorical(categories, missing=place, unconfirmed=marks)
    assert Schema.from_dict(tomllib.loads(draft.text)) == draft.schema
    schema = draft.schema.confirmed()
    (codes,) = read_features(pd.DataFrame({"x": [None, "east", "elsewhere"]}), schema)
    missing, _, other = ([*categories, "separate"][code] for code in codes)
    assert missing == other == (place or categories[0])


@pytest.mark.parametrize("values", [[True, None], [1, None]])
def test_numbers_and_booleans_are_missing_in_a_place_of_their_own(values):
    feature = draft_of(x=pd.Series(values * 20, dtype="category")).schema.features["x"]
    assert feature.separates_missing
    assert feature.categories == (values[0],)


def test_nothing_is_said_of_missing_values_where_there_are_none():
    draft = draft_of(x=[1.5, 2.5] * 20, y=["a", "b"] * 20)
    assert [feature.missing for feature in draft.schema.features.values()] == [None, None]
    assert "missing" not in "".join(draft.text.partition("[features")[1:])


# --- nasty names and values ---------------------------------------------------------------------

NASTY = "ab \n\"'#[]=.\\,\t\x7f\x01é\u2028\x85"
NAMES = st.lists(
    st.text(NASTY, min_size=1, max_size=8).filter(str.strip),
    min_size=2, max_size=4, unique_by=str.strip,
)  # fmt: skip
VALUES = (
    st.text(NASTY, max_size=4)
    | st.integers(-(10**20), 10**20).map(str)
    | st.floats().map(repr)
    | st.sampled_from(["", "true", "2020-01-01", "NA"])
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(data=st.data(), names=NAMES)
def test_no_name_or_value_breaks_out_and_the_records_fit_their_draft(
    tmp_path_factory: pytest.TempPathFactory, data, names
):
    file = tmp_path_factory.getbasetemp() / "nasty.csv"
    n_rows = data.draw(st.integers(2, 6))
    columns = [data.draw(st.lists(VALUES, min_size=n_rows, max_size=n_rows)) for _ in names[1:]]
    with file.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.writer(opened, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerow(names)
        for row, values in enumerate(zip(*columns, strict=True)):
            writer.writerow(["yes" if row else "no", *values])
    target = names[0].strip()
    dialect = CsvDialect(multiline=True, unconfirmed=["multiline"])
    records = read_files_without_schema([file], target, dialect)
    command = NextCommands(["nasty\n.csv"], target, 'sche"ma\n.toml')
    facts = profile_table(records.features, records.labels, trim=True)
    try:
        draft = draft_schema(facts, command, is_csv=True, csv=dialect)
    except ParameterError:  # dates only, or nothing
        return
    assert Schema.from_dict(tomllib.loads(draft.text)) == draft.schema
    assert {*draft.schema.names, *draft.left_out} == {name.strip() for name in names[1:]}
    assert len(draft.schema.unconfirmed) == 2 + sum(
        (4 if isinstance(f, Numeric) else 2) + (f.missing is not None)
        for f in draft.schema.features.values()
    )
    whats = {
        misfit.what for misfit in check_files_against_schema([file], draft.schema, target).misfits
    }
    # A missing value fits: each has its place, or counts as an unknown category that was there.
    assert whats <= {"missing", "not a number: counts as missing", "below the range",
                     "above the range"}  # fmt: skip
    if not _has_infinities(file):
        assert not whats & {"below the range", "above the range"}


def _has_infinities(file: Path) -> bool:
    text = file.read_text(encoding="utf-8")
    return "inf" in text or "e+30" in text


@pytest.mark.parametrize(
    ("n_records", "least"),
    [(0, None), (199, None), (200, 100), (399, 100), (400, 200), (7874, 3000), (10**6, 500_000)],
)
def test_the_draft_proposes_half_of_the_records_in_one_digit(n_records, least):
    facts = profile_table(pa.table({"age": [1, 2]}), ["no", "yes"], trim=True)
    assert facts.n_labelled == 2
    draft = draft_schema(replace(facts, n_labelled=n_records), COMMAND, is_csv=True)
    assert draft.schema.min_records == least
    assert (("min_records",) in draft.schema.unconfirmed) == (least is not None)
    assert ("150/epsilon" in draft.text) == (least is not None)
    assert Schema.from_dict(tomllib.loads(draft.text)) == draft.schema


def test_the_draft_has_a_place_for_names():
    draft = draft_of(age=list(range(N)))
    (table,) = [block for block in draft.text.split("\n\n") if "[about]" in block]
    filled = table.replace("# title", "title").replace("# owner", "owner").replace("# date", "date")
    read = Schema.from_dict(tomllib.loads(draft.text.replace(table, filled)))
    assert read.about == About("...", "ill", owner="Who answers for the model.", date="2026-01-31")


def test_an_odd_target_makes_no_table():
    facts = profile_table(pa.table({"age": [1, 2]}), ["no", "yes"], trim=True)
    odd = NextCommands(["data.csv"], "two\nlines", "schema.toml")
    draft = draft_schema(facts, odd, is_csv=True)
    assert draft.schema.about is None
    assert "[about]" not in draft.text
    assert Schema.from_dict(tomllib.loads(draft.text)) == draft.schema
