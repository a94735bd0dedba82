import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from privatree.errors import SchemaError
from privatree.schema import TARGET_CODES, About, CsvDialect, Numeric, Schema, Target

FEATURES = {"age": Numeric(0, 120)}
LAST = TARGET_CODES - 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"low": 1, "high": 1}, "low must be < high for a target, got low=1 and high=1"),
        ({"low": 2, "high": 1}, "low must be < high for a target, got low=2 and high=1"),
        ({"low": 2**60, "high": 2**60 + 1}, "low must be < high for a target"),
        ({"low": 0, "high": math.inf}, "high of the target must be a finite number, got inf"),
        ({"low": math.nan, "high": 1}, "low of the target must be a finite number, got nan"),
        ({"low": "0", "high": 1}, "low of the target must be a number, got '0'"),
        ({"low": None, "high": 1}, "low of the target must be a number, got None"),
        ({"low": True, "high": 2}, "low of the target must be a number, got True"),
        ({"low": -1.7e308, "high": 1.7e308}, "neither too wide nor too narrow"),
        ({"low": 0, "high": 1e101}, r"from -1e\+100 to 1e\+100 at most"),
        ({"low": -1e101, "high": 0}, "neither too wide nor too narrow"),
        ({"low": 0, "high": 1e-101}, "and at least 1e-100 wide, got low=0 and high=1e-101"),
        ({"low": 0, "high": 1, "integer": 1}, "integer of the target must be True or False"),
        ({"low": 0.5, "high": 2, "integer": True}, "must be whole numbers, got 0.5 and 2"),
        ({"low": -1, "high": 2, "log": True}, "with log=True must be at least 0, got -1"),
        ({"low": 0, "high": 2, "log": "yes"}, "log of the target must be True or False"),
        ({"low": 1e300, "high": 1.00000000000001e300, "log": True}, "nor too narrow"),
        ({"low": 0, "high": 2, "name": " "}, "name of the target must be the name of a column"),
        ({"low": 0, "high": 2, "name": 3}, "name of the target must be the name of a column"),
        ({"low": 0, "high": 2, "unconfirmed": ["name"]}, "unconfirmed must list names among low"),
    ],
)
def test_target_refuses(arguments, message):
    with pytest.raises(SchemaError, match=message):
        Target(**arguments)


def test_a_schema_has_classes_or_a_target():
    schema = Schema(FEATURES, target=Target(0, 60))
    assert schema.classes == ()
    assert repr(schema) == "Schema(features={'age': Numeric}, target=Target(0, 60))"
    with pytest.raises(SchemaError, match="classes, or a target that is a number, but"):
        Schema(FEATURES)
    with pytest.raises(SchemaError, match="either classes or a target, but has both"):
        Schema(FEATURES, ["no", "yes"], target=Target(0, 60))
    with pytest.raises(SchemaError, match="target must be a Target or None, got 'days'"):
        Schema(FEATURES, target="days")
    with pytest.raises(SchemaError, match="classes must be given where they are marked"):
        Schema(FEATURES, classes_confirmed=False, target=Target(0, 60))


def test_the_name_of_the_target_is_published():
    schema = Schema(FEATURES, target=Target(0, 60, name="days"))
    assert schema.about == About(target="days")
    assert schema.with_target("other") == schema
    assert Schema(FEATURES, target=Target(0, 60)).with_target("days").about.target == "days"
    with pytest.raises(SchemaError, match="the target must have one name, got 'days' and, in abo"):
        Schema(FEATURES, target=Target(0, 60, name="days"), about=About(target="cost"))


def full_schema():
    target = Target(0, 60, integer=True, name="days", log=True, unconfirmed=["high", "low"])
    return Schema(
        FEATURES, target=target, csv=CsvDialect(delimiter="tab"), unit="patient", min_records=100
    )


def test_a_schema_with_a_target_survives_files_and_pickles(tmp_path):
    schema = full_schema()
    assert Schema.from_dict(schema.to_dict()) == schema
    assert pickle.loads(pickle.dumps(schema)) == schema
    schema.to_toml(tmp_path / "schema.toml")
    assert "[target]\nlow = 0\nhigh = 60\ninteger = true\nlog = true\nname =" in (
        tmp_path / "schema.toml"
    ).read_text(encoding="utf-8")
    assert Schema.from_toml(tmp_path / "schema.toml") == schema
    assert hash(schema) != hash(schema.confirmed())


def test_marks_of_a_target():
    schema = full_schema()
    assert schema.unconfirmed == (("target", "low"), ("target", "high"))
    assert schema.shown_unconfirmed() == "target: low, high"
    assert schema.confirmed().unconfirmed == ()
    marked = schema.confirmed().all_unconfirmed()
    assert marked.target.unconfirmed == ("low", "high", "integer")
    assert marked.classes_confirmed
    assert Schema.from_dict(marked.to_dict()) == marked


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ([0, 1], r"'target' must be a table with low and high, got \[0, 1\]"),
        ("days", "'target' must be a table with low and high, got 'days'"),
        ({"low": 0}, "'target' must have the key 'high'"),
        ({"low": 0, "high": 1, "hihg": 2}, "'target' has the unknown key 'hihg'"),
        ({"low": 2, "high": 1}, "target: low must be < high"),
    ],
)
def test_from_dict_refuses(written, message):
    with pytest.raises(SchemaError, match=message):
        Schema.from_dict({"features": {"a": {"kind": "numeric", "low": 0, "high": 1}},
                          "target": written})  # fmt: skip


# --- codes --------------------------------------------------------------------------------------


def test_codes_of_a_range():
    target = Target(0, 1)
    assert_array_equal(target.code_of([0, 0.5, 1, 2, -1, np.nan]), [0, 2**15, LAST, LAST, 0, -1])
    assert_array_equal(target.code_of([np.inf, -np.inf]), [LAST, 0])
    assert target.code_of(np.zeros(0)).dtype == np.int32
    assert target.code_of(0.5) == 2**15


def test_a_whole_number_is_in_the_middle_of_its_codes():
    target = Target(0, 3, integer=True)
    quarter = TARGET_CODES // 4
    assert_array_equal(target.code_of([0, 1, 2, 3]), quarter // 2 + quarter * np.arange(4))
    assert_array_equal(target.value_of([0, 1, 3 / 8]), [0, 3, 1])


TARGETS = st.one_of(
    st.tuples(st.floats(-1e99, 1e99), st.floats(1e-100, 1e99), st.just(False)),
    st.tuples(st.floats(0, 1e6), st.floats(1e-3, 1e12), st.just(True)),
).filter(lambda drawn: drawn[0] < drawn[0] + drawn[1])


@given(TARGETS, st.lists(st.floats(), min_size=1, max_size=20))
def test_codes_are_monotone_and_depend_on_one_value_alone(drawn, values):
    low, width, log = drawn
    try:
        target = Target(low, low + width, log=log)
    except SchemaError:
        return
    values = np.sort(values)  # NaN last
    codes = target.code_of(values)
    known = codes[~np.isnan(values)]
    assert (np.diff(known) >= 0).all()
    assert ((known >= 0) & (known < TARGET_CODES)).all()
    assert (codes[np.isnan(values)] == -1).all()
    assert_array_equal([target.code_of([value])[0] for value in values], codes)
    assert_array_equal(target.code_of([target.low, target.high]), [0, LAST])


@pytest.mark.parametrize(
    "target", [Target(-3, 17), Target(0, 1e6, log=True), Target(2, 9, log=True)]
)
def test_the_middle_of_a_code_has_this_code(target):
    codes = np.arange(0, TARGET_CODES, 97)
    assert_array_equal(target.code_of(target.value_of((codes + 0.5) / TARGET_CODES)), codes)


def test_steps_of_logarithms():
    target = Target(0, 999, log=True)
    assert_allclose(target.value_of([0, 1 / 3, 2 / 3, 1]), [0, 9, 99, 999])
    assert target.code_of([9.0])[0] / TARGET_CODES == pytest.approx(1 / 3, abs=1e-4)


SIGNALLING = np.array([0x7FF00000000007A2], dtype=np.uint64).view(np.float64)[0]


@pytest.mark.parametrize("target", [Target(0, 100), Target(0, 1e100), Target(0, 100, log=True)])
@pytest.mark.parametrize("odd", [SIGNALLING, 5e-324, 1e-310, 2.3e-308, 1e-300, 1e308, np.inf])
@pytest.mark.parametrize("setting", ["warn", "raise"])
def test_no_number_warns_or_raises(target, odd, setting):
    """It would tell that a record has this number."""
    with np.errstate(all=setting):
        codes = target.code_of(np.array([odd, 50.0]))
    assert codes[0] in {-1, 0, LAST}
    assert_array_equal(codes[1:], target.code_of([50.0]))
