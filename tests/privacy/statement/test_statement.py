from __future__ import annotations

import copy
import json
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privatree._support.escape import escape_to_one_line
from privatree.errors import ModelFormatError, ParameterError
from privatree.privacy import Leak, PrivacyStatement, Schedule, Spend, Stage, shown_amount
from privatree.privacy.statement._statement_json import MAX_TEXT_LENGTH

FULL = PrivacyStatement(
    learner="a learner",
    epsilon=math.inf,
    delta=1e-6,
    neighbours="replace",
    public=("the schema", "the number of rows"),
    leaks=(Leak("purity", "A pure node stops growing."), Leak("range", "Taken from the data.")),
    claimed_epsilon=0.5,
    notes=("Ordered categories.",),
    seeded=True,
    spends=(
        Spend("geometric", Fraction(1, 8), "class counts", 3),
        Spend("geometric", Fraction(1, 8), "class counts", 4),
        Spend("exponential", Fraction(1, 16), "split", 0, 2),
        Spend("gaussian", Fraction(1, 4), "sums", None, 1, Fraction(1, 1024)),
        Spend("gaussian", Fraction(1, 4), "sums", None, 1, Fraction(1, 1024)),
    ),
    schedule=Schedule(
        total=Fraction(7, 8),
        choices=Fraction(3, 4),
        counts=Fraction(1, 4),
        sequences=(
            (Stage("count", Fraction(1, 4)), Stage("choice", Fraction(1, 2))),
            (Stage("choice", Fraction(3, 4)),),
        ),
    ),
)
PLAIN = PrivacyStatement(learner="another", epsilon=1.25)

amounts = st.floats(min_value=0, allow_nan=False, allow_infinity=False)
spends = st.builds(
    Spend,
    mechanism=st.text(),
    epsilon=amounts.map(Fraction),
    purpose=st.text(),
    node=st.none() | st.integers(0, 100),
    times=st.integers(1, 50),
    delta=amounts.map(Fraction),
)
# with sums that are floats too
eighths = st.integers(1, 1000).map(lambda number: Fraction(number, 8))
stages = st.builds(Stage, st.sampled_from(["count", "choice"]), eighths)


def schedule_of(sequences: tuple[tuple[Stage, ...], ...]) -> Schedule:
    def most(*kinds: str) -> Fraction:
        return max(
            sum((s.epsilon for s in path if s.kind in kinds), Fraction(0)) for path in sequences
        )

    return Schedule(most("choice", "count"), most("choice"), most("count"), sequences)


paths = st.lists(stages, min_size=1, max_size=3).map(tuple)
schedules = st.lists(paths, min_size=1, max_size=3).map(tuple).map(schedule_of)
statements = st.builds(
    PrivacyStatement,
    learner=st.text(),
    epsilon=amounts | st.just(math.inf),
    delta=amounts,
    neighbours=st.sampled_from(["add-remove", "replace"]),
    public=st.lists(st.text(), max_size=3).map(tuple),
    leaks=st.lists(st.builds(Leak, st.text(), st.text()), max_size=3).map(tuple),
    claimed_epsilon=st.none() | amounts | st.just(math.inf),
    notes=st.lists(st.text(), max_size=3).map(tuple),
    seeded=st.booleans(),
    spends=st.lists(spends, max_size=3).map(tuple),
    schedule=st.none() | schedules,
)


def through_json(statement: PrivacyStatement) -> Any:
    return json.loads(json.dumps(statement.to_dict(), allow_nan=False))


# --- reading and writing ------------------------------------------------------------------------


@pytest.mark.parametrize("statement", [FULL, PLAIN])
def test_round_trip(statement: PrivacyStatement) -> None:
    assert PrivacyStatement.from_dict(through_json(statement)) == statement


@pytest.mark.slow
@settings(deadline=None)
@given(statements)
def test_any_statement_makes_the_round_trip(statement: PrivacyStatement) -> None:
    again = PrivacyStatement.from_dict(through_json(statement))
    assert again == statement
    assert str(again) == str(statement)


def test_fractions_that_are_no_floats_are_written_as_the_nearest() -> None:
    statement = PrivacyStatement("x", 1.0, spends=(Spend("geometric", Fraction(1, 3), "counts"),))
    written = through_json(statement)
    assert written["spends"][0]["epsilon"] == 1 / 3
    assert PrivacyStatement.from_dict(written).to_dict() == written


def test_a_schedule_is_written_as_lists() -> None:
    assert through_json(FULL)["schedule"] == {
        "total": 0.875,
        "choices": 0.75,
        "counts": 0.25,
        "sequences": [[["count", 0.25], ["choice", 0.5]], [["choice", 0.75]]],
    }
    assert through_json(PLAIN)["schedule"] is None


def test_a_schedule_is_never_written_as_less_than_it_is() -> None:
    """Its numbers are rounded up; what is a float already stays as it is."""
    amounts = [Fraction(1, n) for n in range(1, 40)]
    path = tuple(Stage("count", amount) for amount in amounts)
    schedule = Schedule(Fraction(43, 10), Fraction(1, 3), Fraction(30, 7), (path,))
    read = PrivacyStatement.from_dict(through_json(PrivacyStatement("x", 1.0, schedule=schedule)))
    assert read.schedule is not None
    written = [stage.epsilon for stage in read.schedule.sequences[0]]
    sums = zip(
        (Fraction(43, 10), Fraction(1, 3), Fraction(30, 7)),
        (read.schedule.total, read.schedule.choices, read.schedule.counts),
        strict=True,
    )
    pairs = [*zip(amounts, written, strict=True), *sums]
    for exact, found in pairs:
        assert exact <= found <= exact * (1 + Fraction(1, 2**52))
        assert found == exact or Fraction(float(exact)) != exact


@pytest.mark.parametrize(
    ("stage", "message"),
    [
        (["split", 0.5], 'each stage of the schedule must be \\["count", epsilon\\] or'),
        (["count"], "each stage of the schedule must be"),
        (["count", 0.5, 1], "each stage of the schedule must be"),
        ("count", "each stage of the schedule must be"),
        (["count", -0.5], "epsilon of a stage must be finite and >= 0"),
        (["choice", "infinity"], "epsilon of a stage must be a number"),
    ],
)
def test_a_wrong_stage_is_refused_with_a_reason(stage: Any, message: str) -> None:
    written = through_json(FULL)
    written["schedule"]["sequences"][1][0] = stage
    with pytest.raises(ModelFormatError, match=f"^privacy: .*{message}"):
        PrivacyStatement.from_dict(written)


@pytest.mark.parametrize(
    ("sequences", "message"),
    [
        ([[["count", 0.0]]] * 101, "at most 100 sequences"),
        ([[["count", 0.0]] * 251], "at most 250 stages"),
        ([None] * 10**6, "at most 100 sequences"),
    ],
    ids=["sequences", "stages", "many"],
)
def test_a_schedule_too_long_is_refused_before_it_is_read(sequences: Any, message: str) -> None:
    written = through_json(FULL)
    written["schedule"]["sequences"] = sequences
    with pytest.raises(ModelFormatError, match=f"^privacy: .*{message}"):
        PrivacyStatement.from_dict(written)


@pytest.mark.parametrize(
    "place",
    [("learner",), ("public", 0), ("notes", 0), ("leaks", 0, "name"), ("spends", 0, "purpose")],
    ids=str,
)
def test_a_text_too_long_to_print_is_refused(place: tuple[Any, ...]) -> None:
    """Breaking one word of a million letters into lines takes the square of that."""
    written = through_json(FULL)
    for length in (MAX_TEXT_LENGTH, MAX_TEXT_LENGTH + 1):
        reach(written, place[:-1])[place[-1]] = "x" * length
        if length <= MAX_TEXT_LENGTH:
            assert "xxx" in str(PrivacyStatement.from_dict(written))
        else:
            with pytest.raises(ModelFormatError, match=r"privacy: .*at most 10000 characters"):
                PrivacyStatement.from_dict(written)


def test_infinite_amounts_are_written_as_a_word() -> None:
    written = through_json(FULL)
    assert written["epsilon"] == "infinity"
    assert PrivacyStatement.from_dict(written).epsilon == math.inf


# --- malformed ----------------------------------------------------------------------------------


@pytest.mark.parametrize("written", [None, [], "privacy", 3, True, math.nan])
def test_what_is_no_object_is_refused(written: Any) -> None:
    with pytest.raises(ModelFormatError, match="must be a JSON object"):
        PrivacyStatement.from_dict(written)


def places(written: Any) -> list[tuple[Any, ...]]:
    """The way to every value."""
    if isinstance(written, dict):
        children = list(written.items())
    elif isinstance(written, list):
        children = list(enumerate(written))
    else:
        return []
    return [(key, *rest) for key, child in children for rest in ((), *places(child))]


ALL_PLACES = places(FULL.to_dict())
OBJECTS: list[tuple[Any, ...]] = [
    (),
    ("leaks", 0),
    ("leaks", 1),
    ("schedule",),
    *(("spends", i) for i in range(5)),
]


def reach(written: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        written = written[key]
    return written


def refused(written: Any) -> None:
    before = copy.deepcopy(written)
    with pytest.raises(ModelFormatError, match="privacy"):
        PrivacyStatement.from_dict(written)
    assert repr(written) == repr(before)  # not changed by reading


@pytest.mark.parametrize("place", [p for p in ALL_PLACES if isinstance(p[-1], str)], ids=str)
def test_a_missing_key_is_refused(place: tuple[Any, ...]) -> None:
    written = FULL.to_dict()
    del reach(written, place[:-1])[place[-1]]
    refused(written)


@pytest.mark.parametrize("place", OBJECTS, ids=str)
@pytest.mark.parametrize(
    "extra", [{"more": 1}, {"": None}, {3: 1}, {3: 1, "b": 2, None: 0}], ids=str
)
def test_an_extra_key_is_refused(place: tuple[Any, ...], extra: dict[Any, Any]) -> None:
    written = FULL.to_dict()
    reach(written, place).update(extra)
    refused(written)


JUNK: list[Any] = [
    None,
    True,
    False,
    -1,
    -0.5,
    1.5,
    "x",
    "",
    "infinity",
    "Infinity",
    "nan",
    [],
    [1],
    {},
    math.nan,
    math.inf,
    -math.inf,
    10**400,
    -(10**400),
    b"x",
]


def allowed(place: tuple[Any, ...], value: Any) -> bool:
    """Whether this value is right in this place."""
    key = place[-1]
    if place == ("schedule",):
        return value is None
    if len(place) > 2 and place[:2] == ("schedule", "sequences"):
        return False  # no value here is a stage, or an epsilon within the sums
    if isinstance(key, int):
        return place[0] in ("public", "notes") and isinstance(value, str)
    if key in ("public", "leaks", "notes", "spends", "sequences"):
        return value == [] and isinstance(value, list)
    if key == "seeded":
        return isinstance(value, bool)
    if key in ("learner", "name", "explanation", "mechanism", "purpose"):
        return isinstance(value, str)
    if key == "neighbours":
        return value in ("add-remove", "replace")
    whole = isinstance(value, int) and not isinstance(value, bool)
    if key == "times":
        return whole and value >= 1
    if key == "node":
        return value is None or (whole and value >= 0)
    if value == "infinity":
        return place in (("epsilon",), ("claimed_epsilon",))
    if value is None:
        return key == "claimed_epsilon"
    if whole and abs(value) > 10**308:
        return False
    return (whole or isinstance(value, float)) and math.isfinite(value) and value >= 0


@pytest.mark.slow
@pytest.mark.parametrize("place", ALL_PLACES, ids=str)
def test_a_wrong_value_is_refused_and_a_right_one_is_not(place: tuple[Any, ...]) -> None:
    n_refused = 0
    for value in JUNK:
        written = FULL.to_dict()
        reach(written, place[:-1])[place[-1]] = value
        if allowed(place, value):
            PrivacyStatement.from_dict(written)
        else:
            refused(written)
            n_refused += 1
    assert n_refused >= 5


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5) | st.integers(), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.mark.slow
@settings(deadline=None)
@given(st.sampled_from(ALL_PLACES), anything, st.sampled_from(["set", "delete", "add"]))
def test_any_mutation_is_read_or_refused(place: tuple[Any, ...], value: Any, how: str) -> None:
    written = FULL.to_dict()
    parent = reach(written, place[:-1])
    if how == "delete":
        del parent[place[-1]]
    elif how == "add" and isinstance(parent, dict):
        parent["added"] = value
    else:
        parent[place[-1]] = value
    try:
        statement = PrivacyStatement.from_dict(written)
    except ModelFormatError:
        return
    assert how != "add" or isinstance(parent, list)
    assert not (how == "delete" and isinstance(parent, dict))
    assert PrivacyStatement.from_dict(through_json(statement)) == statement


@settings(deadline=None)
@given(anything)
def test_anything_at_all_is_refused(written: Any) -> None:
    with pytest.raises(ModelFormatError):
        PrivacyStatement.from_dict(written)


# --- printing -----------------------------------------------------------------------------------


def test_the_printed_statement_says_everything() -> None:
    lines = str(FULL).splitlines()
    assert lines[0] == "Privacy statement of a learner"

    def line(start: str) -> str:
        found = [text for text in lines if text.strip().startswith(start)]
        assert len(found) == 1, start
        return found[0]

    assert "infinite: no guarantee" in line("epsilon for a whole record")
    assert line("epsilon the paper claims").endswith("0.5")
    assert line("delta").endswith("1e-06")
    assert "differ in one record" in line("neighbours")
    for text in ("the schema", "the number of rows", "Ordered categories."):
        assert line(f"- {text}")
    assert line("- purity: A pure node stops growing.")
    assert line("- range: Taken from the data.")
    assert line("- class counts: geometric, epsilon 0.125, at 2 nodes")
    assert line("- split: exponential, epsilon 0.0625 x 2, at node 0")
    assert line("- sums: gaussian, epsilon 0.25, 2 times")
    assert "whoever knows the seed can remove it" in " ".join(str(FULL).split())
    order = [lines.index(line(start)) for start in ("assumed public", "leaks", "notes", "spends")]
    assert order == sorted(order)


def test_the_printed_statement_leaves_out_what_there_is_not() -> None:
    text = str(PLAIN)
    assert "1.25" in text
    assert "one record added or removed" in text
    for absent in ("claims", "leaks", "notes", "spends", "public", "seed", "infinite"):
        assert absent not in text


def test_the_seed_is_noted_only_if_there_is_one() -> None:
    assert "random_state=None before publishing" in str(PrivacyStatement("x", 1.0, seeded=True))
    assert "random_state" not in str(PrivacyStatement("x", 1.0, seeded=False))


@pytest.mark.slow
@settings(deadline=None)
@given(statements)
def test_any_statement_can_be_printed(statement: PrivacyStatement) -> None:
    def without_spaces(text: str) -> str:
        return "".join(text.split())

    text = without_spaces(str(statement))
    said = [statement.learner, *statement.public, *statement.notes]
    said += [part for leak in statement.leaks for part in (leak.name, leak.explanation)]
    said += [part for spend in statement.spends for part in (spend.purpose, spend.mechanism)]
    assert all(without_spaces(escape_to_one_line(part)) in text for part in said)
    assert str(statement).replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("amount", "shown"),
    [(19.6321206, "19.6322"), (1.0, "1"), (0.1, "0.1"), (0.0, "0"), (1e-9, "1e-09")],
)
def test_amounts_are_rounded_up(amount: float, shown: str) -> None:
    assert shown_amount(amount) == shown
    assert float(shown_amount(amount)) >= amount * (1 - 1e-15)


def test_a_strangers_text_cannot_hide_a_line() -> None:
    forged = "PrivaTreeClassifier\n  epsilon for a whole record  0.1\x1b[8m"
    printed = str(PrivacyStatement(forged, math.inf, notes=("a\x1b]0;title\x07b",)))
    assert printed.replace("\n", "").isprintable()
    assert printed.splitlines()[1] == "  epsilon for a whole record  infinite: no guarantee"


# --- the number of records ------------------------------------------------------------------------

COUNTED = PrivacyStatement(learner="a", epsilon=1.0, noisy_records=1234, records_error=100)


def test_the_number_of_records_is_shown_with_its_error() -> None:
    assert "  usable records              about 1,234 (± 100)" in str(COUNTED).splitlines()
    assert COUNTED.records_text == "about 1,234 (± 100)"
    assert "notes" not in str(COUNTED)
    assert PLAIN.records_text is None
    assert "usable records" not in str(PLAIN)


@pytest.mark.parametrize(("noisy", "few"), [(-30, True), (0, True), (100, True), (101, False)])
def test_a_number_within_its_error_is_said_to_be_small(noisy: int, few: bool) -> None:
    statement = PrivacyStatement("a", 1.0, noisy_records=noisy, records_error=100)
    assert statement.has_few_records is few
    assert ("the noise hides whether" in " ".join(str(statement).split())) is few
    assert not PLAIN.has_few_records


def test_a_negative_number_is_kept_and_shown_as_none() -> None:
    statement = PrivacyStatement("a", 1.0, noisy_records=-30, records_error=100)
    assert PrivacyStatement.from_dict(through_json(statement)) == statement
    assert "about 0 (± 100)" in str(statement)


def test_the_number_makes_the_round_trip_and_old_files_have_none() -> None:
    written = through_json(COUNTED)
    assert (written["noisy_records"], written["records_error"]) == (1234, 100)
    assert PrivacyStatement.from_dict(written) == COUNTED
    assert "noisy_records" not in PLAIN.to_dict()
    assert PrivacyStatement.from_dict(PLAIN.to_dict()).noisy_records is None


@pytest.mark.parametrize(
    "changes",
    [
        {"noisy_records": None},
        {"noisy_records": 1.5},
        {"noisy_records": True},
        {"noisy_records": 2**62},
        {"noisy_records": -(2**62)},
        {"records_error": -1},
        {"records_error": "100"},
        {"records_error": 2**62},
    ],
    ids=str,
)
def test_a_wrong_number_is_refused(changes: dict[str, Any]) -> None:
    refused(COUNTED.to_dict() | changes)


@pytest.mark.parametrize("key", ["noisy_records", "records_error"])
def test_a_number_without_its_error_is_refused(key: str) -> None:
    written = COUNTED.to_dict()
    del written[key]
    refused(written)
    with pytest.raises(ParameterError, match="must both be given, or both be None"):
        PrivacyStatement("a", 1.0, **{key: 5})


# --- units ----------------------------------------------------------------------------------------


def test_a_statement_for_units_speaks_of_units() -> None:
    few = PrivacyStatement("a", 1.0, noisy_records=50, records_error=100, unit="patient_id")
    printed = str(few)
    assert "  epsilon for a whole unit    1\n" in printed
    assert "datasets that differ by all records of one patient_id, added or removed" in printed
    assert "  usable units                about 50 (± 100)" in printed
    assert "So few units had a record" in printed
    assert PrivacyStatement.from_dict(through_json(few)) == few


def test_the_schedule_of_units_is_not_about_single_paths() -> None:
    path = (Stage("choice", Fraction(1)),)
    schedule = Schedule(Fraction(1), Fraction(1), Fraction(0), (path,))
    records = PrivacyStatement("a", 1.0, schedule=schedule)
    units = PrivacyStatement("a", 1.0, schedule=schedule, unit="patient_id")
    for read in (records, PrivacyStatement.from_dict(through_json(records))):
        assert read.schedule is not None
        assert read.schedule.single_path
    for read in (units, PrivacyStatement.from_dict(through_json(units))):
        assert read.schedule is not None
        assert not read.schedule.single_path
