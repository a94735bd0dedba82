import copy
import math
import pickle
from dataclasses import FrozenInstanceError, replace
from enum import Enum, IntEnum
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privatree.errors import PrivatreeError, SchemaError
from privatree.schema import Categorical, Numeric, Schema

AGE = Numeric(17, 90, integer=True)
COLOUR = Categorical(["red", "green"])


# --- Numeric ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"low": "1", "high": 2}, "low must be a number, got '1'"),
        ({"low": 1, "high": None}, "high must be a number, got None"),
        ({"low": True, "high": 2}, "low must be a number, got True"),
        ({"low": math.nan, "high": 2}, "low must be a finite number, got nan"),
        ({"low": 0, "high": math.inf}, "high must be a finite number, got inf"),
        ({"low": 0, "high": 10**400}, "high must be a finite number, got 1000.*…"),
        ({"low": 0, "high": 10**5000}, "finite number, got a number of thousands of digits"),
        ({"low": [10**5000], "high": 1}, "must be a number, got a number of thousands of digits"),
        ({"low": 0, "high": 1, "integer": 10**5000}, "got a number of thousands of digits"),
        ({"low": 0, "high": 1, "cuts": 10**5000}, "got a number of thousands of digits"),
        ({"low": 2, "high": 1}, "low must be <= high, got low=2 and high=1"),
        ({"low": -1.7e308, "high": 1.7e308}, "high - low must be a finite number"),
        ({"low": 0, "high": 1, "integer": 1}, "integer must be True or False, got 1"),
        ({"low": 0.5, "high": 2, "integer": True}, "must be whole numbers, got 0.5 and 2"),
        ({"low": 0, "high": 2.5, "integer": True}, "must be whole numbers, got 0 and 2.5"),
        ({"low": 0, "high": 1, "cuts": "12"}, "cuts must be a list of numbers, got '12'"),
        ({"low": 0, "high": 1, "cuts": 0.5}, "cuts must be a list of numbers, got 0.5"),
        ({"low": 0, "high": 1, "cuts": [0.5, math.nan]}, "cuts must be a finite number, got nan"),
        ({"low": 0, "high": 1, "cuts": [0.5, 0.5]}, "cuts must be strictly increasing"),
        ({"low": 0, "high": 1, "cuts": [0.6, 0.5]}, "cuts must be strictly increasing"),
        ({"low": 0, "high": 1, "cuts": [1]}, r"cuts must lie in \[0, 1\) \(high excluded\)"),
        ({"low": 0, "high": 1, "cuts": [-0.1]}, r"cuts must lie in \[0, 1\)"),
        ({"low": 0, "high": 1, "missing": 2}, r"missing must lie in \[0, 1\], got 2"),
        (
            {"low": 0, "high": 1, "missing": "x"},
            "missing must be a number or \"separate\", got 'x'",
        ),
        ({"low": 0, "high": 1, "missing": math.nan}, "missing must be a finite number"),
    ],
)
def test_numeric_refuses(arguments, message):
    with pytest.raises(SchemaError, match=message):
        Numeric(**arguments)


def test_schema_error_is_a_value_error_of_ours():
    assert issubclass(SchemaError, ValueError)
    assert issubclass(SchemaError, PrivatreeError)


def test_numeric_accepts_the_edges():
    assert Numeric(3, 3).missing_place == 3
    assert Numeric(0, 1, cuts=[0, 0.5], missing=1).missing_place == 1
    assert Numeric(0, 1, cuts=[]).cuts == ()
    assert Numeric(2.0, 5.0, integer=True).integer


def test_numeric_keeps_plain_numbers_and_immutable_cuts():
    feature = Numeric(np.int8(1), np.float32(2.5), cuts=np.array([1.5, 2.0]), missing=np.int64(2))
    assert [type(feature.low), type(feature.high), type(feature.missing)] == [int, float, int]
    assert feature.cuts == (1.5, 2.0)
    assert {type(cut) for cut in feature.cuts} == {float}


def test_missing_number_counts_as_the_lower_end_unless_declared():
    assert Numeric(-3, 5).missing_place == -3
    assert Numeric(-3, 5, missing=0).missing_place == 0  # 0 is declared, not absent


# --- Categorical and classes --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("categories", "message"),
    [
        ("abc", "categories must be a list, got 'abc'"),
        (b"abc", "categories must be a list"),
        (3, "categories must be a list, got 3"),
        ([], "categories must have at least 1 entry, got 0"),
        (["a", "a"], "categories must be distinct, got 'a' more than once"),
        ([1, 1.0], "categories must be distinct, got 1 more than once"),
        (["a", 1], "categories must be all strings, all numbers or .*, got numbers and strings"),
        ([True, 1], "categories must be .* all booleans, got booleans and numbers"),
        (["a", None], "categories must be strings, finite numbers or booleans"),
        ([math.nan], "categories must be strings, finite numbers"),
        ([math.inf], "categories must be strings, finite numbers"),
        ([Fraction(10**400)], "categories must be strings, finite numbers"),
        ([10**5000, 10**5000], "categories must not contain numbers with thousands of digits"),
        ([-(10**5000)], "categories must not contain numbers with thousands of digits"),
        ([["a"]], "categories must be strings, finite numbers"),
        (["\ud800"], "categories must be valid Unicode"),
    ],
)
def test_categorical_refuses(categories, message):
    with pytest.raises(SchemaError, match=message):
        Categorical(categories)


def test_a_number_that_python_does_not_print_is_refused():
    with pytest.raises(SchemaError, match="must be a list, got a number of thousands of digits"):
        Categorical(10**5000)


def test_missing_must_be_a_category():
    message = "missing must be one of the categories or \"separate\", got 'blue'"
    with pytest.raises(SchemaError, match=message):
        Categorical(["red", "green"], missing="blue")


def test_missing_category_is_the_first_unless_declared():
    assert Categorical(["b", "a"]).missing_place == 0
    assert Categorical(["b", "a"], missing="a").missing_place == 1
    assert Categorical([True, False], missing=False).missing_place == 1


def test_a_missing_value_can_have_a_place_of_its_own():
    number, category = Numeric(0, 9, missing="separate"), Categorical([1, 2], missing="separate")
    assert number.separates_missing
    assert number.missing_place == -math.inf
    assert category.separates_missing
    assert (category.n_codes, category.missing_place) == (3, 2)
    assert Categorical([1, 2], missing=2).n_codes == Categorical([1, 2]).n_codes == 2
    assert not Numeric(0, 9, missing=0).separates_missing
    assert not Numeric(0, 9).separates_missing


def test_a_category_called_separate_is_a_category():
    """As in schemas that are older than missing="separate"."""
    feature = Categorical(["together", "separate"], missing="separate")
    assert not feature.separates_missing
    assert (feature.n_codes, feature.missing_place) == (2, 1)


def test_separate_missing_values_are_written_and_read(tmp_path):
    schema = Schema(
        {
            "income": Numeric(0, 9, missing="separate", unconfirmed=["missing"]),
            "ward": Categorical(["east", "west"], missing="separate"),
        },
        ["no", "yes"],
    )
    schema.to_toml(tmp_path / "schema.toml")
    assert (tmp_path / "schema.toml").read_text().count('missing = "separate"') == 2
    assert Schema.from_toml(tmp_path / "schema.toml") == schema
    assert schema.unconfirmed == (("features", "income", "missing"),)


def test_labels_become_plain_python():
    class Colour(str, Enum):  # noqa: UP042
        RED = "red"

    class Level(IntEnum):
        LOW = 1

    assert Categorical([Colour.RED, np.str_("green")]).categories == ("red", "green")
    assert {type(label) for label in Categorical([Colour.RED, np.str_("x")]).categories} == {str}
    assert [type(v) for v in Categorical([Level.LOW, np.int8(2), np.float32(0.5)]).categories] == [
        int,
        int,
        float,
    ]
    assert type(Categorical([np.True_]).categories[0]) is bool


def test_order_of_categories_is_kept():
    assert Categorical(x for x in "cab").categories == ("c", "a", "b")


# --- Schema -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("features", "classes", "message"),
    [
        ({}, [0, 1], "features must be a dictionary"),
        ([("a", AGE)], [0, 1], "features must be a dictionary"),
        ({1: AGE}, [0, 1], "feature names must be strings, got 1"),
        ({"\udfff": AGE}, [0, 1], "feature names must be valid Unicode"),
        ({"a": "numeric"}, [0, 1], "feature 'a' must be Numeric or Categorical"),
        ({"a": AGE}, [0], "classes must have at least 2 entries, got 1"),
        ({"a": AGE}, [0, "1"], "classes must be all strings, .* got numbers and strings"),
        ({"a": AGE}, ["x", "x"], "classes must be distinct, got 'x' more than once"),
        ({"a": AGE}, "yes", "classes must be a list, got 'yes'"),
        ({"a": AGE}, None, "must have classes, or a target that is a number, but has neither"),
    ],
)
def test_schema_refuses(features, classes, message):
    with pytest.raises(SchemaError, match=message):
        Schema(features, classes)


def test_schema_cannot_be_changed():
    features = {"age": AGE}
    schema = Schema(features, [0, 1])
    features["colour"] = COLOUR
    assert schema.names == ("age",)
    with pytest.raises(TypeError):
        schema.features["age"] = COLOUR
    with pytest.raises(FrozenInstanceError):
        schema.classes = (1, 2)
    with pytest.raises(FrozenInstanceError):
        schema.features["age"].low = 3


def test_equality_includes_the_order_of_columns():
    schema = Schema({"age": AGE, "colour": COLOUR}, [0, 1])
    same = Schema({"age": AGE, "colour": COLOUR}, (0, 1))
    turned = Schema({"colour": COLOUR, "age": AGE}, [0, 1])
    assert schema == same
    assert hash(schema) == hash(same)
    assert schema != turned
    assert schema != Schema({"age": AGE, "colour": COLOUR}, [0, 2])
    assert schema != "schema"


def test_copies_and_pickles():
    schema = Schema({"age": AGE, "colour": COLOUR}, [0, 1])
    for other in (pickle.loads(pickle.dumps(schema)), copy.deepcopy(schema)):
        assert other == schema
        assert other is not schema


# --- unconfirmed entries ------------------------------------------------------------------------

MARKED = Schema(
    {
        "age": Numeric(17, 90, unconfirmed=["integer", "low"]),
        "classes": Categorical(["red"], unconfirmed=["categories", "kind"]),
        "sure": AGE,
    },
    [0, 1],
    classes_confirmed=False,
)


def test_unconfirmed_entries_are_the_keys_that_lead_to_them():
    assert MARKED.unconfirmed == (
        ("classes",),
        ("features", "age", "low"),
        ("features", "age", "integer"),
        ("features", "classes", "kind"),
        ("features", "classes", "categories"),
    )
    assert MARKED.shown_unconfirmed() == "classes; 'age': low, integer; 'classes'"


def test_what_a_person_writes_is_confirmed():
    assert Schema({"age": AGE, "colour": COLOUR}, [0, 1]).unconfirmed == ()


def test_confirming_takes_all_marks_away_and_changes_nothing_else():
    assert MARKED.confirmed() == Schema(
        {"age": Numeric(17, 90), "classes": Categorical(["red"]), "sure": AGE}, [0, 1]
    )
    assert MARKED.confirmed().unconfirmed == ()


def test_marks_are_part_of_equality_and_survive_copies_and_new_schemas():
    assert MARKED.confirmed() != MARKED
    assert hash(MARKED) != hash(MARKED.confirmed())
    features = {"age": Numeric(17, 90), "classes": Categorical(["red"]), "sure": AGE}
    assert Schema(features, [0, 1], classes_confirmed=False) != Schema(features, [0, 1])
    for other in (pickle.loads(pickle.dumps(MARKED)), copy.deepcopy(MARKED), copy.copy(MARKED)):
        assert other == MARKED
        assert other.unconfirmed == MARKED.unconfirmed
    # Features keep their marks wherever they go.
    assert Schema(MARKED.features, MARKED.classes).unconfirmed == MARKED.unconfirmed[1:]
    assert replace(MARKED.features["age"], low=0).unconfirmed == ("low", "integer")


def test_everything_can_be_marked():
    marked = Schema({"age": AGE, "colour": COLOUR}, [0, 1]).all_unconfirmed()
    assert marked.shown_unconfirmed() == "classes; 'age'; 'colour'"
    assert marked.all_unconfirmed() == marked
    assert marked.confirmed() == Schema({"age": AGE, "colour": COLOUR}, [0, 1])


def test_a_long_list_of_unconfirmed_entries_is_cut_and_has_no_line_breaks():
    names = ["x" * 500, "a\nb", *(f"c{n}" for n in range(100))]
    text = Schema(dict.fromkeys(names, AGE), [0, 1]).all_unconfirmed().shown_unconfirmed()
    assert len(text) < 600
    assert "\n" not in text
    assert text.endswith("; 'c27'; and 72 more columns")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Numeric(0, 1, unconfirmed=["lo"]),
            "list names among kind, low, high, integer",
        ),
        (lambda: Numeric(0, 1, unconfirmed=["categories"]), "got 'categories'"),
        (lambda: Numeric(0, 1, unconfirmed="low"), "must be a list of names, got 'low'"),
        (lambda: Numeric(0, 1, unconfirmed=True), "must be a list of names, got True"),
        (lambda: Numeric(0, 1, unconfirmed={"low": 1}), "must be a list of names"),
        (lambda: Categorical(["a"], unconfirmed=["low"]), "names among kind, categories, missing"),
        (lambda: Categorical(["a"], unconfirmed=[[]]), r"got \[\]"),
        (lambda: Schema({"a": AGE}, [0, 1], classes_confirmed=0), "must be True or False, got 0"),
    ],
)
def test_marks_must_be_names_of_entries(make, message):
    with pytest.raises(SchemaError, match=message):
        make()


def test_marks_stand_beside_their_values_in_toml(tmp_path):
    path = tmp_path / "schema.toml"
    MARKED.to_toml(path)
    assert path.read_text() == (
        'classes = [0, 1]\nunconfirmed = ["classes"]\n\n'
        '[features.age]\nkind = "numeric"\nlow = 17\nhigh = 90\ninteger = false\n'
        'unconfirmed = ["low", "integer"]\n\n'
        '[features.classes]\nkind = "categorical"\ncategories = ["red"]\n'
        'unconfirmed = ["kind", "categories"]\n\n'
        '[features.sure]\nkind = "numeric"\nlow = 17\nhigh = 90\ninteger = true\n'
    )
    assert Schema.from_toml(path) == MARKED
    kept = [line for line in path.read_text().splitlines() if "unconfirmed" not in line]
    path.write_text("\n".join(kept))
    assert Schema.from_toml(path) == MARKED.confirmed()


def test_an_empty_list_of_marks_is_none():
    content = MARKED.confirmed().to_dict()
    content["unconfirmed"] = []
    content["features"]["age"]["unconfirmed"] = []
    assert Schema.from_dict(content) == MARKED.confirmed()


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        (
            'unconfirmed = ["class"]\n',
            "unconfirmed must list names among classes, unit, min_records, got 'class'",
        ),
        ("unconfirmed = true\n", "unconfirmed must be a list of names, got True"),
        ('unconfirmed = "classes"\n', "unconfirmed must be a list of names, got 'classes'"),
    ],
)
def test_marks_that_mean_nothing_are_refused_in_toml(tmp_path, mark, message):
    numeric = "[features.a]\nkind = 'numeric'\nlow = 0\nhigh = 1\n"
    with pytest.raises(SchemaError, match=f"schema.toml: {message}"):
        Schema.from_toml(written(tmp_path, f"classes = [0, 1]\n{mark}{numeric}"))
    with pytest.raises(SchemaError, match=r"schema.toml: feature 'a': unconfirmed must"):
        Schema.from_toml(written(tmp_path, f"classes = [0, 1]\n{numeric}{mark}"))


# --- TOML ---------------------------------------------------------------------------------------


def written(tmp_path, text):
    path = tmp_path / "schema.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_toml_reads_as_documented(tmp_path):
    path = written(
        tmp_path,
        """
        classes = [false, true]
        [features.age]
        kind = "numeric"
        low = 17
        high = 90
        integer = true
        cuts = [30, 60.5]
        missing = 40
        [features."home town"]
        kind = "categorical"
        categories = ["a", "b"]
        missing = "b"
        """,
    )
    assert Schema.from_toml(path) == Schema(
        {
            "age": Numeric(17, 90, integer=True, cuts=[30, 60.5], missing=40),
            "home town": Categorical(["a", "b"], missing="b"),
        },
        [False, True],
    )


NUMERIC = 'classes = [0, 1]\n[features.a]\nkind = "numeric"\n'
CATEGORICAL = 'classes = [0, 1]\n[features.a]\nkind = "categorical"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("classes = [", "must be TOML, but is not"),
        ("a,b\n1,2\n", "must be TOML, but is not"),
        ("classes = [0, 1]", "the schema must have the key 'features', but lacks it"),
        (
            "[features.a]\nkind = 'numeric'\nlow = 0\nhigh = 1",
            "a schema must have classes, or a target that is a number, but has neither. Add",
        ),
        ("classes = [0, 1]\nfeatures = {}\nepsilon = 1", "schema has the unknown key 'epsilon'"),
        ("classes = [0, 1]\nfeatures = [1]", "'features' must be a table of columns"),
        ("classes = 'ab'\nfeatures = {}", "'classes' must be a list of labels"),
        ("classes = [0, 1]\nfeatures = {}", "features must be a dictionary with at least one"),
        ("classes = [0, 1]\nfeatures = {a = 1}", "feature 'a' must have kind"),
        ("classes = [0, 1]\n[features.a]\nlow = 0", "feature 'a' must have kind"),
        ("classes = [0, 1]\n[features.a]\nkind = 'date'", "feature 'a' must have kind"),
        (NUMERIC + "low = 0", "feature 'a' must have the key 'high', but lacks it"),
        (
            NUMERIC + "low = 0\nhigh = 1\nmax = 2",
            "feature 'a' has the unknown key 'max'; known keys are",
        ),
        (NUMERIC + "low = 2\nhigh = 1", "feature 'a': low must be <= high"),
        (NUMERIC + "low = nan\nhigh = 1", "feature 'a': low must be a finite number"),
        (NUMERIC + "low = '0'\nhigh = 1", "feature 'a': low must be a number"),
        (NUMERIC + "low = 0\nhigh = 1\ncuts = [1]", "feature 'a': cuts must lie in"),
        (
            NUMERIC + "low = 0\nhigh = 1\ncategories = [1]",
            "feature 'a' has the unknown key 'categories'",
        ),
        (CATEGORICAL, "feature 'a' must have the key 'categories', but lacks it"),
        (CATEGORICAL + "categories = ['x', 'x']", "feature 'a': categories must be distinct"),
        (CATEGORICAL + "categories = ['x', true]", "feature 'a': categories must be all strings"),
        (CATEGORICAL + "categories = [2020-01-01]", "feature 'a': categories must be strings"),
        (CATEGORICAL + "categories = ['x']\nlow = 1", "feature 'a' has the unknown key 'low'"),
    ],
)
def test_mistakes_in_toml_name_the_file(tmp_path, text, message):
    path = written(tmp_path, text)
    with pytest.raises(SchemaError, match=message) as caught:
        Schema.from_toml(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert str(caught.value).count("feature 'a'") <= 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (NUMERIC + f"low = {'9' * 5000}\nhigh = 1", "a number must not have thousands of digits"),
        (NUMERIC + f"low = 0x{'f' * 5000}\nhigh = 1", "got a number of thousands of digits"),
        (NUMERIC + f"low = {'[' * 5000}{']' * 5000}\nhigh = 1", "without deep nesting"),
        (NUMERIC + "low = 0\nhigh = 1\n" + ".".join("a" * 30_000) + " = 1", "at most 8 parts"),
        (NUMERIC + f"low = '{'x' * 5000}'\nhigh = 1", "low must be a number, got 'xxx.*…"),
        (NUMERIC + f"{'x' * 5000} = 1", "unknown key 'xxx.*…$"),
        (CATEGORICAL + f"categories = [0x{'f' * 5000}, 1]", "thousands of digits"),
        (CATEGORICAL + f"categories = ['{'x' * 900}', '{'x' * 900}']", "must be distinct"),
    ],
)
def test_large_mistakes_in_toml_have_short_messages(tmp_path, text, message):
    path = written(tmp_path, text)
    with pytest.raises(SchemaError, match=message) as caught:
        Schema.from_toml(path)
    assert len(str(caught.value).removeprefix(f"{path}: ")) <= 300


@pytest.mark.slow
def test_many_categories_survive_toml_in_no_time(tmp_path, takes_at_most):
    schema = Schema(
        {"code": Categorical([f"c{n}" for n in range(70_000)], missing="c69999")}, [0, 1]
    )

    def written_and_read():
        schema.to_toml(tmp_path / "schema.toml")
        return Schema.from_toml(tmp_path / "schema.toml")

    assert takes_at_most(5, written_and_read) == schema
    with pytest.raises(SchemaError, match="a schema file must have at most 100000 values"):
        Schema({"code": Categorical(range(110_000))}, [0, 1]).to_toml(tmp_path / "too-large.toml")


def test_toml_that_is_not_text_is_a_schema_error(tmp_path):
    path = tmp_path / "schema.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SchemaError, match=r"must be UTF-8 text\. Save it as UTF-8\.$"):
        Schema.from_toml(path)


@pytest.mark.parametrize("content", [None, [], "text", 3])
def test_from_dict_needs_a_table(content):
    with pytest.raises(SchemaError, match="a schema must be a table"):
        Schema.from_dict(content)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (["classes"], "'classes' must be a list"),
        (["features", "c", "categories"], "feature 'c': categories must be a list"),
        (["features", "n", "cuts"], "feature 'n': cuts must be a list"),
    ],
)
@pytest.mark.parametrize("as_object", [dict.fromkeys, lambda labels: {}])
def test_an_object_is_never_taken_for_the_list_of_its_keys(path, message, as_object):
    features = {"c": Categorical(["x", "y"]), "n": Numeric(0, 1, cuts=[0.25, 0.5])}
    content = Schema(features, ["no", "yes"]).to_dict()
    *parents, last = path
    table = reduce(dict.__getitem__, parents, content)
    table[last] = as_object(table[last])
    with pytest.raises(SchemaError, match=message):
        Schema.from_dict(content)


def same_types(first, second):
    return [type(value) for value in first] == [type(value) for value in second]


@pytest.mark.parametrize(
    "name",
    ["a.b", 'say "x"', "it's", "größe", " ", "", "a\nb", "\x7f\x00", "[x]", "#", "日本", "\\"],
)
def test_odd_names_survive_toml(tmp_path, name):
    schema = Schema({name: Categorical([name, "other"]), "plain": AGE}, [name, "z"])
    path = tmp_path / "schema.toml"
    schema.to_toml(path)
    assert Schema.from_toml(path) == schema


NUMBERS = st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False))
SMALL = st.one_of(st.integers(-(10**6), 10**6), st.floats(-1e6, 1e6))


def label_lists(at_least):
    return st.one_of(
        st.lists(st.text(), min_size=at_least, max_size=5, unique=True),
        st.lists(NUMBERS, min_size=at_least, max_size=5, unique=True),
        st.permutations([True, False]),
    )


@st.composite
def numeric_features(draw):
    low, high = sorted((draw(SMALL), draw(SMALL)))
    missing = draw(st.none() | st.sampled_from([low, high]))
    cuts = None
    if low < high:
        found = draw(st.none() | st.lists(st.floats(low, high, exclude_max=True), unique=True))
        cuts = None if found is None else sorted(found)
    is_whole = float(low).is_integer() and float(high).is_integer()
    marks = draw(st.sets(st.sampled_from(["kind", "low", "high", "integer", "cuts", "missing"])))
    return Numeric(low, high, is_whole and draw(st.booleans()), cuts, missing, marks)


@st.composite
def categorical_features(draw):
    categories = draw(label_lists(1))
    marks = draw(st.sets(st.sampled_from(["kind", "categories", "missing"])))
    return Categorical(categories, draw(st.none() | st.sampled_from(categories)), marks)


SCHEMAS = st.builds(
    Schema,
    st.dictionaries(st.text(), numeric_features() | categorical_features(), min_size=1, max_size=4),
    label_lists(2),
    st.booleans(),
)


@pytest.mark.slow
@given(schema=SCHEMAS)
def test_every_schema_survives_toml_and_pickle(tmp_path_factory, schema):
    path = tmp_path_factory.getbasetemp() / "round_trip.toml"
    schema.to_toml(path)
    back = Schema.from_toml(path)
    assert back == schema
    assert back.unconfirmed == schema.unconfirmed
    assert back.names == schema.names
    assert same_types(back.classes, schema.classes)
    for feature, other in zip(schema.features.values(), back.features.values(), strict=True):
        if isinstance(feature, Categorical):
            assert same_types(feature.categories, other.categories)
        else:
            assert same_types((feature.low, feature.high), (other.low, other.high))
    assert pickle.loads(pickle.dumps(schema)) == schema
    assert Schema.from_dict(schema.to_dict()) == schema
