import pytest

from privatree.cli._weight_options import (
    check_weight_options,
    class_weight_of_labels,
    parse_class_weight,
)
from privatree.errors import ParameterError
from privatree.schema import Numeric, Schema


def weights(given, classes):
    schema = Schema({"age": Numeric(0, 1)}, classes)
    return class_weight_of_labels(parse_class_weight(given), schema)


@pytest.mark.parametrize(
    ("given", "classes", "expected"),
    [
        (None, ["no", "yes"], None),
        ("balanced", ["no", "yes"], "balanced"),
        ("yes=5,no=1", ["no", "yes"], {"yes": 5, "no": 1}),
        (" yes = 5 , no=.5,", ["no", "yes"], {"yes": 5, "no": 0.5}),
        ("yes=1e3", ["no", "yes"], {"yes": 1000}),
        ("<=50K=1,>50K=3", ["<=50K", ">50K"], {"<=50K": 1, ">50K": 3}),
        ("a, b=2,c=1", ["a, b", "c"], {"a, b": 2, "c": 1}),
        ("1=2,0=1", [0, 1], {1: 2, 0: 1}),
        ("1.5=2", [0.5, 1.5], {1.5: 2}),
        ("true=2,false=1", [False, True], {True: 2, False: 1}),
        ("balanced=2", ["balanced", "not"], {"balanced": 2}),
    ],
)
def test_what_is_written_is_the_weight_of_a_label(given, classes, expected):
    found = weights(given, classes)
    assert found == expected
    if isinstance(expected, dict):
        assert [type(label) for label in found] == [type(label) for label in expected]


def test_what_is_no_label_stays_as_it_is_for_the_learner_to_refuse():
    assert weights("maybe=2", ["no", "yes"]) == {"maybe": 2}
    assert weights("01=2", [0, 1]) == {"01": 2}


@pytest.mark.parametrize(
    "given", ["", "yes", "balance", "yes=", "=5", "yes=five", "yes=1,no", "yes=1,yes=2", "yes=1,,"]
)
def test_what_is_no_list_of_weights_is_refused(given):
    with pytest.raises(ParameterError) as raised:
        parse_class_weight(given)
    assert str(raised.value) == (
        "--class-weight must be balanced, or a weight for each class, such as yes=5,no=1, got "
        f"{given!r}."
    )


def test_weights_by_label_need_the_labels():
    with pytest.raises(ParameterError, match="or be used with --schema"):
        class_weight_of_labels({"yes": 2}, None)
    assert class_weight_of_labels("balanced", None) == "balanced"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"unit": "who"}, "--unit must be used with --schema. Pass both."),
        ({"weight": "w"}, "--weight must be used with --schema. Pass both."),
        ({"max_weight": 2.0, "has_schema": True}, "--max-weight must be used with --weight, "),
    ],
)
def test_an_option_that_needs_another(options, message):
    usual = {"unit": None, "weight": None, "max_weight": None, "has_schema": False}
    check_weight_options(**usual)
    with pytest.raises(ParameterError) as raised:
        check_weight_options(**(usual | options))
    assert str(raised.value).startswith(message)
