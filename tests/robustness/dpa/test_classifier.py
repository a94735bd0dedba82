"""No edit within the radius changes a certified prediction; what would break that is caught."""

import pickle
import traceback
import warnings
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from privatree import Categorical, Numeric, Schema
from privatree.errors import ParameterError, SchemaError
from privatree.robustness import DPAClassifier
from privatree.robustness.dpa import _classifier as partition_aggregation
from privatree.robustness.dpa import _voter as voter
from privatree.robustness.dpa._classifier import vote_radii
from privatree.robustness.dpa._record_hash import partition_numbers, rows_to_hash

# Attacks are tried on few records: there are fewer of them to edit.
pytestmark = pytest.mark.filterwarnings("ignore:n_partitions leaves each partition:UserWarning")

# --- radius -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("winning", "other", "c", "j", "radius"),
    [(620, 380, 1, 0, 119), (620, 380, 0, 1, 120), (501, 499, 1, 0, 0)],
)
def test_the_design_s_vectors(winning: int, other: int, c: int, j: int, radius: int) -> None:
    votes = np.zeros((1, 2), dtype=np.int32)
    votes[0, [c, j]] = winning, other
    assert vote_radii(votes, unseen_classes=False).tolist() == [radius]
    assert vote_radii(votes, unseen_classes=True).tolist() == [radius]  # it has votes enough


@given(st.lists(st.integers(0, 9), min_size=2, max_size=4), st.booleans())
def test_the_radius_is_the_largest_that_no_change_of_votes_breaks(
    counts: list[int], unseen: bool
) -> None:
    assume(any(counts))
    (found,) = vote_radii(np.array([counts]), unseen_classes=unseen).tolist()
    everybody = [0, *counts] if unseen else counts  # somebody new comes first
    winner = int(np.argmax(counts)) + unseen

    def broken_by(edits: int) -> bool:  # by the best attack: from the winner to one rival
        moved = min(edits, everybody[winner])
        return any(
            int(np.argmax(np.add(everybody, moved * (np.eye(len(everybody))[j] - e_winner))))
            != winner
            for j in range(len(everybody))
            if j != winner
        )

    e_winner = np.eye(len(everybody))[winner]
    assert found == 0 or not broken_by(found)
    assert broken_by(found + 1)


def test_nobody_votes() -> None:
    votes = np.zeros((1, 2), dtype=np.int32)
    assert vote_radii(votes, unseen_classes=True).tolist() == [0]
    assert vote_radii(votes, unseen_classes=False).tolist() == [0]


# --- attacks ------------------------------------------------------------------------------------


class LastLabel(ClassifierMixin, BaseEstimator):
    """Believes its last record: one edit turns it, and so does another order."""

    def fit(self, X: Any, y: Any) -> "LastLabel":
        self.label_ = y[-1]
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.label_)


class Record(NamedTuple):
    features: tuple[float, ...]
    label: int


Records = list[Record]
QUERIES = np.array([[0.0, 0.0], [3.0, 40.0], [20.0, 7.0], [40.0, 40.0], [50.0, 1.0]])
N_PARTITIONS = 9


def some_records(seed: int, n: int = 30, n_classes: int = 2) -> Records:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 50, (n, 2)).astype(float)
    favourite = seed % 2
    labels = np.where(rng.random(n) < 0.4, favourite, rng.integers(0, n_classes, n)) + 1
    return [Record(tuple(row), label) for row, label in zip(rows.tolist(), labels, strict=True)]


def train(make: Callable[[], Any], records: Records) -> Any:
    rows, labels = zip(*records, strict=True)
    return make().fit(np.array(rows), np.array(labels))


def make_open() -> DPAClassifier:
    return DPAClassifier(LastLabel(), n_partitions=N_PARTITIONS)


def make_declared() -> DPAClassifier:
    return DPAClassifier(LastLabel(), n_partitions=N_PARTITIONS, classes=[1, 2, 3])


def make_of_trees() -> DPAClassifier:
    return DPAClassifier(DecisionTreeClassifier(max_depth=2), n_partitions=N_PARTITIONS)


def record_for(partition: int, label: int, size: float = 1e6) -> Record:
    """A record in this partition, larger than all others, so that it is the last there."""
    rows = np.column_stack([np.full(200, size), np.arange(200.0)])
    (found, *_) = np.flatnonzero(partition_numbers(rows_to_hash(rows), N_PARTITIONS) == partition)
    return Record(tuple(rows[found].tolist()), label)


def aimed(model: Any, records: Records, rival: int) -> Iterator[Records]:
    """Add a rival's record where the winner has a vote, one more at a time: the best attack."""
    (winner,) = model.predict(QUERIES[:1])
    turned = list(records)
    for number, partition in enumerate(model.voters_):
        votes = np.zeros((1, len(model.classes_)), dtype=np.int32)
        partition.add_votes(QUERIES[:1], model.classes_, votes)
        if votes[0, model.classes_.tolist().index(winner)]:
            turned = [record_for(number, rival), *turned]
            yield turned


def changed(model: Any, other: Any, edits: int) -> bool:
    """Whether a prediction differs that was certified for this many edits."""
    labels, radii = model.certify(QUERIES)
    return bool(np.any((labels != other.predict(QUERIES)) & (radii >= edits)))


def breaks(make: Callable[[], Any], seed: int, rivals: tuple[int, ...]) -> bool:
    """Whether some attack on these records changes what was certified."""
    records = some_records(seed)
    model = train(make, records)
    rng = np.random.default_rng(seed)
    found = False
    for _ in range(2):  # another order is no edit
        shuffled = [records[place] for place in rng.permutation(len(records))]
        found |= changed(model, train(make, shuffled), 0)
    for place in range(0, len(records), 8):
        removed = records[:place] + records[place + 1 :]
        flipped = [*removed, Record(records[place].features, 3 - records[place].label)]
        found |= changed(model, train(make, removed), 1)
        found |= changed(model, train(make, flipped), 1)
    for rival in rivals:
        certified = range(1, model.certified_radius(QUERIES).max() + 1)
        for edits, poisoned in zip(certified, aimed(model, records, rival), strict=False):
            found |= changed(model, train(make, poisoned), edits)
    return found


SEEDS = (1, 2, 3)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_attack_breaks_a_certificate(seed: int) -> None:
    assert not breaks(make_open, seed, rivals=(1, 2, 0))
    assert not breaks(make_declared, seed, rivals=(1, 2, 0))
    assert not breaks(make_of_trees, seed, rivals=(1, 2))


@pytest.mark.parametrize("make", [make_open, make_declared])
@pytest.mark.parametrize("seed", SEEDS)
def test_no_larger_radius_would_hold(make: Callable[[], Any], seed: int) -> None:
    """So the attacks above are as strong as they can be."""
    records = some_records(seed)
    model = train(make, records)
    (winner,), (radius,) = model.certify(QUERIES[:1])
    smallest = []
    for rival in {1, 2, 3, 0} - {winner}:
        for edits, poisoned in enumerate(aimed(model, records, rival), start=1):
            if train(make, poisoned).predict(QUERIES[:1]) != winner:
                smallest.append(edits)
                break
    assert min(smallest) == radius + 1


def all_edits(records: Records) -> Iterator[Callable[[list[Any]], list[Any]]]:
    """Every removal and flip, and in every partition a new last record against the winner."""
    for place in range(len(records)):
        features, label = records[place]
        yield lambda now, place=place: [*now[:place], None, *now[place + 1 :]]
        flipped = Record(features, 3 - label)
        yield lambda now, place=place, flipped=flipped: [*now[:place], flipped, *now[place + 1 :]]
    for partition in range(N_PARTITIONS):
        added = record_for(partition, 2)
        yield lambda now, added=added: [*now, added]


def test_none_of_all_pairs_of_edits() -> None:
    records = some_records(36, n=9)
    model = train(make_open, records)
    assert model.predict(QUERIES).tolist() == [1] * 5
    assert model.certified_radius(QUERIES).tolist() == [2] * 5
    for first, second in combinations(all_edits(records), 2):
        poisoned = [record for record in second(first(records)) if record is not None]
        assert not changed(model, train(make_open, poisoned), 2)


EDIT = st.tuples(
    st.sampled_from(["add", "remove", "flip", "shuffle"]), st.integers(0, 10**6), st.integers(0, 3)
)


@settings(max_examples=12)
@given(st.integers(0, 10**6), st.lists(EDIT, min_size=1, max_size=5))
def test_no_sequence_of_edits(seed: int, edits: list[Any]) -> None:
    records = some_records(seed, n=60, n_classes=3)
    model = train(make_of_trees, records)
    used = 0
    for what, number, label in edits:
        rng = np.random.default_rng(number)
        place = number % len(records)
        if what == "add":
            records = [Record(tuple(rng.integers(0, 50, 2).tolist()), label), *records]
        elif what == "remove":
            records = records[:place] + records[place + 1 :]
        elif what == "flip":
            records = [*records[:place], Record(records[place].features, label),
                       *records[place + 1 :]]  # fmt: skip
        else:
            records = [records[place] for place in rng.permutation(len(records))]
        used += what != "shuffle"
        assert not changed(model, train(make_of_trees, records), used)


def test_other_features_are_two_edits() -> None:
    """One vote leaves the winner in one partition, another in a second: as two records would."""
    records = [record_for(number, 1) for number in range(5)]  # five votes for 1
    records += [record_for(number, 2) for number in range(5, 7)]  # two for 2
    model = train(make_declared, records)
    assert model.certified_radius(QUERIES).tolist() == [1] * 5
    moved = [Record(record_for(1, 2, size=2e6).features, 2), *records[1:]]
    other = train(make_declared, moved)
    changed_at = [
        number
        for number, (a, b) in enumerate(zip(other.voters_, model.voters_, strict=True))
        if a.codes.tolist() != b.codes.tolist()
    ]
    assert changed_at == [0, 1]
    assert other.predict_proba(QUERIES[:1]).tolist() == [[0.5, 0.5, 0.0]]


# --- mutants: each of these classifiers is wrong, and one of the attacks above shows it ----------


def by_position(rows: Any, n_partitions: int) -> Any:
    return np.arange(len(rows)) % n_partitions


def unsorted(rows: Any, codes: Any) -> Any:
    return np.arange(len(rows))


def scaled_together(rows: Any) -> Any:
    written = rows_to_hash(rows)
    return written / np.abs(written).max(axis=0) if len(written) > len(QUERIES) else written


def without_tie_term(votes: Any, *, unseen_classes: bool) -> Any:
    ordered = np.sort(np.column_stack([votes, np.zeros(len(votes), dtype=int)]), axis=1)
    return (ordered[:, -1] - ordered[:, -2]) // 2


def without_unseen_classes(votes: Any, *, unseen_classes: bool) -> Any:
    return vote_radii(votes, unseen_classes=False)


def of_one_more(votes: Any, *, unseen_classes: bool) -> Any:
    return vote_radii(votes, unseen_classes=unseen_classes) + 1


MUTANTS = [
    (partition_aggregation, "partition_numbers", by_position),
    (voter, "voter_order", unsorted),
    (partition_aggregation, "rows_to_hash", scaled_together),
    (partition_aggregation, "vote_radii", without_tie_term),
    (partition_aggregation, "vote_radii", of_one_more),
]


@pytest.mark.parametrize(
    ("module", "name", "mutant"), MUTANTS, ids=lambda value: getattr(value, "__name__", value)
)
def test_a_mutant_is_caught(
    module: Any, name: str, mutant: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, mutant)
    assert any(breaks(make_open, seed, rivals=(1, 2)) for seed in SEEDS)


def unanimous() -> Records:
    """Every partition but one votes for the only class, so that no other has a vote to add to."""
    return [record_for(number, 1, size=5.0) for number in range(8)]


def certificate_holds_against_a_new_class() -> bool:
    model = train(make_open, unanimous())
    attacks = enumerate(aimed(model, unanimous(), 0), start=1)
    return not any(changed(model, train(make_open, poisoned), n) for n, poisoned in attacks)


def test_a_class_that_nobody_has_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    model = train(make_open, unanimous())
    assert model.certified_radius(QUERIES).tolist() == [3] * 5  # at four edits each a tie
    assert train(make_declared, unanimous()).certified_radius(QUERIES).tolist() == [4] * 5
    assert certificate_holds_against_a_new_class()
    monkeypatch.setattr(partition_aggregation, "vote_radii", without_unseen_classes)
    assert not certificate_holds_against_a_new_class()


# --- partitions that do not train ----------------------------------------------------------------


class FailsOnMany(ClassifierMixin, BaseEstimator):
    """Cannot be trained on more records than so many."""

    def __init__(self, most: int = 3) -> None:
        self.most = most

    def fit(self, X: Any, y: Any) -> "FailsOnMany":
        if len(X) > self.most:
            raise RuntimeError("a value of a record")
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), 2)


def test_where_training_fails_nobody_votes() -> None:
    records = [record_for(p, label, size) for p in range(3) for label in (1, 2) for size in (5, 6)]
    records += [record_for(0, 1, 7.0), record_for(4, 1)]
    with pytest.warns(UserWarning, match=r"failed on 1 of 9 partitions, first with RuntimeError\."):
        model = train(lambda: DPAClassifier(FailsOnMany(4), n_partitions=9), records)
    assert model.predict_proba(QUERIES[:1]).tolist() == [[1 / 3, 2 / 3]]
    assert [len(v.codes) for v in model.voters_] == [0, 2, 2, 0, 1, 0, 0, 0, 0]


def test_if_it_fails_wherever_there_is_something_to_train_that_is_an_error() -> None:
    both = [record_for(p, label) for p in range(3) for label in (1, 2)]
    with pytest.raises(ParameterError, match="failed on all 3 that have two classes") as refused:
        train(lambda: DPAClassifier(FailsOnMany(1), n_partitions=9), both)
    assert "a value" not in str(refused.value)
    assert isinstance(refused.value.__cause__, RuntimeError)
    # A vote that remains is an answer: with it there may be a radius.
    with pytest.warns(UserWarning, match="failed on 3 of 9"):
        model = train(
            lambda: DPAClassifier(FailsOnMany(1), n_partitions=9), [*both, record_for(4, 2)]
        )
    assert model.predict(QUERIES[:1]).tolist() == [2]


def test_too_few_neighbours_are_found_out_in_training() -> None:
    with pytest.warns(UserWarning, match="ValueError"):
        model = train(
            lambda: DPAClassifier(KNeighborsClassifier(5), n_partitions=9), some_records(0, n=50)
        )
    assert len(model.predict(QUERIES)) == 5


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_a_number_too_large_for_a_tree_silences_its_partition_only() -> None:
    records = some_records(0)
    poisoned = [*records, Record((1e300, 0.0), 2)]
    model = train(make_of_trees, records)
    with pytest.warns(UserWarning, match="failed on 1 of 9"):
        other = train(make_of_trees, poisoned)
    assert not changed(model, other, 1)


# --- partitions that are too small ---------------------------------------------------------------


def told_of(n_records: int, **parameters: Any) -> list[str]:
    X, y = frame(n_records)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        DPAClassifier(schema=SCHEMA, **parameters).fit(X, y)
    assert all(warning.category is UserWarning for warning in told)
    assert all(warning.filename == __file__ for warning in told)
    return [str(warning.message) for warning in told]


def test_partitions_of_few_records_are_told_once() -> None:
    (told,) = told_of(300)
    assert "about 0.3 records (300 in 1000)" in told
    assert "20 records or more, here at most 15." in told
    assert len(told_of(299, n_partitions=30)) == 1
    assert told_of(300, n_partitions=30) == []
    assert told_of(3, n_partitions=1) == []  # there is nothing to advise
    (told,) = told_of(0, n_partitions=2)
    assert "here at most 1." in told


# --- input --------------------------------------------------------------------------------------

SCHEMA = Schema(
    {"age": Numeric(0, 99, missing=50), "kind": Categorical(["c", "a", "b"]), "x": Numeric(-1, 1)},
    ["no", "yes"],
)


def frame(n: int = 300) -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(0)
    kinds = rng.choice(["a", "b", "c"], n)
    content = {"age": rng.integers(0, 99, n), "kind": kinds, "x": rng.uniform(-1, 1, n)}
    labels = np.where((kinds == "a") ^ (content["age"] > 60), "yes", "no")
    return pd.DataFrame(content), pd.Series(labels)


def votes_of(model: Any, X: Any) -> list[list[float]]:
    return model.predict_proba(X).tolist()


def test_with_a_schema_all_frames_are_one() -> None:
    X, y = frame()
    expected = votes_of(DPAClassifier(n_partitions=5, schema=SCHEMA).fit(X, y), X)
    numbers = X.assign(kind=X["kind"].map({"c": 0, "a": 1, "b": 2})).to_numpy(dtype=float)
    for other, labels in [
        (X.astype({"kind": "category"}), y.astype("category")),
        (X[["x", "kind", "age"]], y),
        (pl.from_pandas(X), pl.from_pandas(y)),
        (pl.from_pandas(X).to_arrow(), y.to_numpy()),
        (X.to_numpy(dtype=object), y.tolist()),
    ]:
        model = DPAClassifier(n_partitions=5, schema=SCHEMA).fit(other, labels)
        assert votes_of(model, other) == expected
    model = DPAClassifier(n_partitions=5, classes=["no", "yes"]).fit(numbers, y)
    assert votes_of(model, numbers) == expected


def test_without_a_schema_all_frames_are_one() -> None:
    X, y = frame()
    X = X[["age", "x"]].astype(np.float32)
    expected = votes_of(DPAClassifier(n_partitions=5).fit(X, y), X)
    for other in (
        X.to_numpy(),
        X.astype(float).to_numpy(),
        pl.from_pandas(X),
        X.to_numpy().tolist(),
    ):
        assert votes_of(DPAClassifier(n_partitions=5).fit(other, y), other) == expected


def test_text_without_a_schema_is_refused_and_not_shown() -> None:
    X, y = frame()
    X["kind"] = X["kind"].map({"a": "surgery", "b": "x-ray", "c": "ward"})
    model = DPAClassifier(n_partitions=5)
    for other in (
        X,
        X.astype({"kind": "category"}),
        X.astype({"kind": object}),
        X.to_numpy(),
        X.to_numpy(dtype=str),
        X.to_numpy().tolist(),
        pl.from_pandas(X),
        pl.from_pandas(X.astype({"kind": "category"})),
    ):
        with pytest.raises(ParameterError, match=r"numeric without a schema.*schema=") as refused:
            model.fit(other, y)
        shown = "".join(traceback.format_exception(refused.value))
        assert not any(kind in shown for kind in ("surgery", "x-ray", "ward"))
    model.fit(X[["age", "x"]], y)
    with pytest.raises(ParameterError, match="numeric without a schema"):
        model.predict(X[["kind", "x"]].rename(columns={"kind": "age"}))


def test_a_schema_places_values_and_leaves_out_labels() -> None:
    X, y = frame()
    model = DPAClassifier(n_partitions=5, schema=SCHEMA).fit(X, y)
    strange = pd.DataFrame({"age": [1e9, np.nan], "kind": ["zzz", "a"], "x": [-np.inf, 0.5]})
    plain = pd.DataFrame({"age": [99.0, 50.0], "kind": ["c", "a"], "x": [-1.0, 0.5]})
    assert votes_of(model, strange) == votes_of(model, plain)
    more = pd.concat([X, strange]), pd.concat([y, pd.Series(["maybe", None])])
    assert votes_of(DPAClassifier(n_partitions=5, schema=SCHEMA).fit(*more), X) == votes_of(
        model, X
    )
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.classes_declared_
    assert DPAClassifier(n_partitions=5, schema=SCHEMA).fit(*more).n_records_ == 302


def test_with_a_schema_no_records_are_enough() -> None:
    X, y = frame()
    model = DPAClassifier(n_partitions=5, schema=SCHEMA).fit(X[:0], y[:0])
    assert model.predict(frame()[0]).tolist() == ["no"] * 300
    assert votes_of(model, frame(1)[0]) == [[0.5, 0.5]]
    assert model.certified_radius(frame(1)[0]).tolist() == [0]
    assert DPAClassifier(n_partitions=5, schema=SCHEMA).fit([], []).n_features_in_ == 3
    assert votes_of(model, X[:0]) == []


def test_declared_classes_keep_their_order_and_others_do_not_vote() -> None:
    records = [record_for(p, label) for p, label in enumerate([7, 5, 9, 5, 7, 9, 9])]
    model = train(lambda: DPAClassifier(n_partitions=9, classes=[7, 5]), records)
    assert model.classes_.tolist() == [7, 5]
    assert model.predict(QUERIES[:1]).tolist() == [7]  # the first of two equals
    assert votes_of(model, QUERIES[:1]) == [[0.5, 0.5]]
    found = train(lambda: DPAClassifier(n_partitions=9), records)
    assert (found.classes_.tolist(), found.classes_declared_) == ([5, 7, 9], False)


def test_missing_values_are_the_base_s_affair() -> None:
    rows = np.column_stack([np.arange(80.0), np.arange(80) % 2])
    labels = rows[:, 1] == 1
    rows[labels, 1] = np.nan
    model = DPAClassifier(n_partitions=2).fit(rows, labels)
    assert model.score(rows, labels) == 1.0
    assert get_tags(model).input_tags.allow_nan
    linear = DPAClassifier(LogisticRegression(), n_partitions=2)
    assert not get_tags(linear).input_tags.allow_nan
    with pytest.raises(ValueError, match="NaN"):
        linear.fit(rows, labels)
    with pytest.raises(ValueError, match="infinity"):
        DPAClassifier(n_partitions=2).fit(np.where(np.isnan(rows), np.inf, rows), labels)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_partitions": 0}, "n_partitions must be an integer from 1"),
        ({"n_partitions": 2.0}, "n_partitions must be an integer from 1"),
        ({"base_estimator": DecisionTreeRegressor()}, "must be a scikit-learn classifier, got Dec"),
        ({"schema": {"a": 1}}, r"schema must be a privatree\.Schema or None, got dict"),
        ({"schema": SCHEMA, "classes": ["no", "yes"]}, "classes must be None with a schema"),
        ({"classes": "ab"}, "classes must be a list"),
        ({"classes": [1]}, "classes must have at least 2"),
    ],
)
def test_parameters_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises((ParameterError, SchemaError), match=message):
        DPAClassifier(**parameters).fit(np.zeros((4, 3)), [0, 1, 0, 1])


def test_rows_and_labels_must_be_as_many() -> None:
    X, y = frame()
    for model in (DPAClassifier(schema=SCHEMA), DPAClassifier(classes=["no", "yes"])):
        with pytest.raises(ValueError, match="same number of rows"):
            model.fit(X if model.schema else X[["age"]], y[1:])


# --- what a user does with it --------------------------------------------------------------------


def test_certified_accuracy_counts_rows_that_are_right_and_stay_so() -> None:
    records = some_records(1, n=80)
    for make in (make_of_trees, make_declared):
        model = train(make, records)
        rows, labels = map(np.array, zip(*records, strict=True))
        predicted, radii = model.certify(rows)
        assert predicted.tolist() == model.predict(rows).tolist()
        assert radii.tolist() == model.certified_radius(rows).tolist()
        asked = [0, 1, 2, 3, 100]
        found = model.certified_accuracy(rows, labels, asked)
        right = [p == label for p, label in zip(predicted, labels, strict=True)]
        assert found.tolist() == [np.mean(right & (radii >= edits)) for edits in asked]
        assert found[0] == model.score(rows, labels)
        assert found[0] > found[4] == 0.0
        most = int(radii[right].max())  # the share of it is the last that leaves anything
        wanted = [0, most, most, most + 1]
        shares = ["0%", f"{100 * most / 80}%", most, f"{100 * (most + 1) / 80}%"]
        by_share = model.certified_accuracy(rows, labels, shares)
        assert model.n_records_ == 80
        assert by_share.tolist() == [np.mean(right & (radii >= edits)) for edits in wanted]
        assert by_share[2] > by_share[3] == 0.0
        for wrong in ([-1], [0.5], ["1"], "1%", []):
            with pytest.raises(ParameterError, match="poisoned must be"):
                model.certified_accuracy(rows, labels, wrong)
        with pytest.raises(ValueError, match="same number of rows"):
            model.certified_accuracy(rows, labels[:1], [0])


def test_a_label_that_is_no_class_is_never_right() -> None:
    X, y = frame()
    model = DPAClassifier(n_partitions=5, schema=SCHEMA).fit(X, y)
    strange = y.where(np.arange(len(y)) % 2 == 0, "maybe")
    full, half = (model.certified_accuracy(X, labels, [0])[0] for labels in (y, strange))
    assert full > 0.9
    assert half == pytest.approx(np.mean((model.predict(X) == y)[::2]) / 2)
    with pytest.raises(ParameterError, match="at least one row"):
        model.certified_accuracy(X[:0], y[:0], [0])


def test_threads_clones_and_pickles_answer_alike() -> None:
    X, y = frame()
    base = DecisionTreeClassifier(splitter="random", max_features=1)
    model = DPAClassifier(base, n_partitions=100, schema=SCHEMA).fit(X, y)
    again = clone(model).set_params(n_jobs=2).fit(X, y)
    assert (
        votes_of(model, X) == votes_of(again, X) == votes_of(pickle.loads(pickle.dumps(model)), X)
    )
    assert base.random_state is None


def test_what_was_declared_is_what_it_was_trained_with() -> None:
    X, y = frame()
    model = DPAClassifier(n_partitions=5, schema=SCHEMA).fit(X, y)
    expected = model.certify(X)
    model.set_params(schema=None, classes=[1, 2])
    assert all(np.array_equal(a, b) for a, b in zip(model.certify(X), expected, strict=True))


@parametrize_with_checks([DPAClassifier(n_partitions=3)])
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("seed", [None, 0])
def test_a_splitter_that_draws_at_random_is_refused(seed):
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.model_selection import StratifiedKFold

    rows = np.arange(200.0).reshape(-1, 1)
    splitter = StratifiedKFold(2, shuffle=True, random_state=seed)
    base = CalibratedClassifierCV(DecisionTreeClassifier(max_depth=1), cv=splitter)
    model = DPAClassifier(base, n_partitions=2, classes=[0, 1])
    if seed is None:
        with pytest.raises(ParameterError, match="its cv has no seed"):
            model.fit(rows, rows[:, 0] % 2)
    else:
        assert model.fit(rows, rows[:, 0] >= 100).certified_radius(rows).shape == (200,)
