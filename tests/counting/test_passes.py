"""Counts from passes are those in memory, whatever is asked, with the fewest passes."""

import math
import re
import warnings
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from batches_in_memory import FrameBatches
from hypothesis import given, settings
from hypothesis import strategies as st
from mixed_records import schema_of, some_records
from numpy.testing import assert_array_equal

from privatree import Numeric, PaperPrivaTreeClassifier, PrivaTreeClassifier, Schema
from privatree.counting import PassCounts
from privatree.counting import _passes as passes
from privatree.counting._queries import CountPartial, CountQuery
from privatree.errors import ParameterError, SourceError
from privatree.estimators import _privatree as estimators
from privatree.privacy import Budget


def fitted(learner, *records):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the paper's claim
        return learner.fit(*records)


LEARNERS = st.one_of(
    st.builds(
        PrivaTreeClassifier,
        st.sampled_from([0.05, 1.0, 8.0, 100.0, 1000.0]),
        max_depth=st.sampled_from([1, 2, 4, None]),
        lookahead=st.sampled_from(["auto", 1, 2, 3]),
        n_bins=st.sampled_from(["auto", 5]),
        schedule=st.sampled_from(["accuracy", "accuracy", "robust"]),
        neighbours=st.sampled_from(["add-remove", "replace"]),
        probability_share=st.sampled_from([0.0, 0.2]),
        random_state=st.integers(0, 100),
    ),
    st.builds(
        PaperPrivaTreeClassifier,
        st.sampled_from([0.1, 5.0]),
        max_depth=st.integers(1, 4),
        quantiles=st.sampled_from(["private", "exact"]),
        stop_when_pure=st.booleans(),
        random_state=st.integers(0, 100),
    ),
)


@pytest.mark.slow
@settings(max_examples=30)
@given(
    LEARNERS,
    st.integers(0, 400),
    st.sampled_from([2, 3]),
    st.integers(1, 150),
    st.booleans(),
    st.integers(0, 2**32),
)
def test_the_same_seed_gives_the_same_model(learner, n, n_classes, size, in_memory, seed):
    frame, labels = some_records(n, n_classes, seed)
    learner.set_params(schema=schema_of(n_classes).with_target("target"))
    expected = fitted(learner, frame, labels).model_.to_dict()
    source = FrameBatches(frame, labels, size, in_memory=in_memory)
    assert fitted(learner, source).model_.to_dict() == expected
    shuffled = np.random.default_rng(seed).permutation(n)
    again = FrameBatches(frame.iloc[shuffled], labels.iloc[shuffled], size + 3)
    assert fitted(learner, again).model_.to_dict() == expected


# --- every answer, one by one -------------------------------------------------------------------


class Twins:
    """Asks both kinds of counts, and lets nothing differ."""

    def __init__(self, one, other):
        self.both = one, other
        self.n_classes = one.n_classes

    n_codes = property(lambda self: self.both[0].n_codes)
    offsets = property(lambda self: self.both[0].offsets)
    n_nodes = property(lambda self: self.both[0].n_nodes)
    full_weight = property(lambda self: self.both[0].full_weight)

    def __getattr__(self, name):
        def ask(*arguments):
            one, other = (getattr(each, name)(*arguments) for each in self.both)
            if name == "triple_counts":
                one, other = list(one), list(other)
            compare(one, other)
            return one

        return ask


def compare(one, other):
    if isinstance(one, np.ndarray):
        assert_array_equal(one, other)
    elif isinstance(one, (tuple, list)):
        for left, right in zip(one, other, strict=True):
            compare(left, right)


def compared_answers(monkeypatch, size=37, **parameters):
    """Train on records in memory and by passes side by side; return how many passes it took."""
    frame, labels = some_records(300, 3, 7)
    source = FrameBatches(frame, labels, size)
    source.open(schema_of(3))
    real = estimators.grow_tree

    def grow(records, cells, *others):
        by_passes, _ = source.counts(cells.binner())
        return real(Twins(records, by_passes), cells, *others)

    monkeypatch.setattr(estimators, "grow_tree", grow)
    parameters = {"epsilon": 50.0, "random_state": 3} | parameters
    PrivaTreeClassifier(schema=schema_of(3), **parameters).fit(frame, labels)
    return source.n_passes


@pytest.mark.slow
@pytest.mark.parametrize("lookahead", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_every_answer_is_that_of_records_in_memory(monkeypatch, lookahead, seed):
    # Two upper levels and a subtree, or all levels one by one; the size needs no pass of its own.
    passes_made = compared_answers(monkeypatch, lookahead=lookahead, random_state=seed)
    assert passes_made == {1: 4, 2: 3, 3: 2}[lookahead]


@pytest.mark.slow
@pytest.mark.parametrize("lookahead", [2, 3])
def test_tables_that_do_not_fit_are_counted_in_parts(monkeypatch, lookahead):
    """The answers are the same; the passes are more, the more the less fits."""
    asked = {}
    real = CountQuery.new_partial

    def start(query):
        asked[id(query)] = query
        return real(query)

    monkeypatch.setattr(CountQuery, "new_partial", start)
    n_passes, tables = {}, {}
    for max_cells in (1, 100_000):
        monkeypatch.setattr(passes, "MAX_CELLS", max_cells)
        asked.clear()
        n_passes[max_cells] = compared_answers(monkeypatch, 150, lookahead=lookahead)
        higher = [query.shapes[1:] for query in asked.values()]
        tables[max_cells] = [sum(map(math.prod, shapes)) for shapes in higher if shapes]
        monkeypatch.undo()
        monkeypatch.setattr(CountQuery, "new_partial", start)
    assert n_passes[1] > 2 * n_passes[100_000] > 10
    assert max(tables[100_000]) <= 100_000
    assert sum(tables[1]) == sum(tables[100_000]), "something was counted twice"


def no_merge(monkeypatch):
    monkeypatch.setattr(CountPartial, "merge", lambda self, other: None)


def other_rows(monkeypatch):
    real = PassCounts._child_node

    def mutant(self, node, number, feature, is_here):
        child = real(self, node, number, feature, is_here)
        if child.is_derived:
            child.exact_counts = child.exact_counts + 1
        return child

    monkeypatch.setattr(PassCounts, "_child_node", mutant)


def lost_routes(monkeypatch):
    real = PassCounts._add_split

    def mutant(self, node, feature, going, numbers):
        real(self, node, feature, going, numbers)
        self._children[-1][0] = -1

    monkeypatch.setattr(PassCounts, "_add_split", mutant)


@pytest.mark.parametrize("mutant", [no_merge, other_rows, lost_routes])
def test_wrong_counts_are_caught(monkeypatch, mutant):
    mutant(monkeypatch)
    with pytest.raises((AssertionError, SourceError)):
        compared_answers(monkeypatch, lookahead=2)


# --- how many passes ----------------------------------------------------------------------------


def draws_on_longest_path(model):
    """Choices of the learner, subtree or split, from the root down."""
    drawn = Counter(
        spend.node for spend in model.privacy_.spends if spend.mechanism.startswith("exponential")
    )
    tree = model.tree_

    def below(node):
        children = () if tree.feature[node] < 0 else (tree.left[node], tree.right[node])
        return drawn[node] + max((below(child) for child in children), default=0)

    return below(0)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.01, 0.3, 30.0])
@pytest.mark.parametrize("lookahead", ["auto", 1, 2, 3])
@pytest.mark.parametrize("max_depth", [4, None])
def test_a_pass_for_each_draw_and_at_most_one_more(monkeypatch, epsilon, lookahead, max_depth):
    frame, labels = some_records(500, 2, 1)
    asked = []
    real = CountQuery.new_partial

    def start(query):
        asked.append(query)
        return real(query)

    monkeypatch.setattr(CountQuery, "new_partial", start)
    source = FrameBatches(frame, labels, 500)
    model = PrivaTreeClassifier(
        epsilon,
        lookahead=lookahead,
        max_depth=max_depth,
        schema=schema_of(2),
        simplify=False,  # which would drop draws from the statement
        random_state=0,
    ).fit(source)
    assert source.n_passes <= draws_on_longest_path(model) + 1
    assert max_depth is None or 1 <= source.n_passes <= 5
    queries = {id(query): query for query in asked}.values()
    assert len(queries) == source.n_passes
    nodes = [
        (node, query.wanted[place] is not None)
        for query in queries
        for node, place in enumerate(query.router.places)
        if place >= 0
    ]
    assert len(nodes) == len(set(nodes)), "a node was counted twice for the same"


def test_the_paper_takes_a_pass_for_each_level_and_one_for_its_quantiles():
    frame, labels = some_records(500, 2, 1)
    source = FrameBatches(frame, labels, 100)
    learner = PaperPrivaTreeClassifier(
        50.0, stop_when_pure=False, schema=schema_of(2), random_state=0
    )
    assert fitted(learner, source).tree_.depth == 4
    assert source.n_passes == 5


# --- records that change, that cannot be read, that are not waited for --------------------------


class Changing(FrameBatches):
    """From the second pass on the records are others."""

    def __init__(self, frame, labels, change):
        super().__init__(frame, labels, 50)
        self.change = change

    def _list_parts(self):
        if self.n_passes == 2:
            self.frame, self.labels = self.change(self.frame.copy(), self.labels.copy())
        return super()._list_parts()


def one_row_more(frame, labels):
    return pd.concat([frame, frame[:1]]), pd.concat([labels, labels[:1]])


def one_row_less(frame, labels):
    return frame[1:], labels[1:]


def other_labels(frame, labels):
    known = labels != "?"
    labels[known] = labels[known].map({"no": "yes", "yes": "no"})
    return frame, labels


def other_values(frame, labels):
    return frame.assign(size=40 - frame["size"], share=-frame["share"], new=~frame["new"]), labels


@pytest.mark.slow
@pytest.mark.parametrize("change", [one_row_more, one_row_less, other_labels, other_values])
@pytest.mark.parametrize("learner", [PrivaTreeClassifier, PaperPrivaTreeClassifier])
def test_records_that_change_between_passes_are_refused(change, learner):
    if learner is PaperPrivaTreeClassifier and change in (other_labels, other_values):
        change = one_row_more  # its first pass counts values, not labels
    frame, labels = some_records(200, 2, 0)
    model = learner(20.0, schema=schema_of(2).with_target("target"), random_state=0)
    with pytest.raises(SourceError, match="must be the same in every pass") as caught:
        fitted(model, Changing(frame, labels, change))
    assert not re.search("[0-9]", str(caught.value))
    assert not hasattr(model, "tree_")


@pytest.mark.parametrize("lookahead", [1, 2])
def test_values_that_change_within_a_node_are_noticed(lookahead):
    """The totals of all nodes stay as they were: only counts by code tell."""
    size = np.tile(np.arange(10), 40)
    labels = pd.Series(np.where(size >= 5, "yes", "no"))
    schema = Schema({"size": Numeric(0, 9, integer=True)}, ["no", "yes"])
    learner = PrivaTreeClassifier(100.0, schema=schema, lookahead=lookahead, random_state=0)
    frame = pd.DataFrame({"size": size})

    def to_the_ends(frame, labels):
        return frame.assign(size=np.where(frame["size"] >= 5, 9, 0)), labels

    assert learner.fit(Changing(frame, labels, lambda *same: same)).tree_.depth >= 1
    with pytest.raises(SourceError, match="must be the same in every pass"):
        learner.fit(Changing(frame, labels, to_the_ends))


class Breaking(FrameBatches):
    """Something happens in the middle of a pass."""

    def __init__(self, frame, labels, at, error):
        super().__init__(frame, labels, 10)
        self.at, self.error, self.closed = at, error, 0

    def _list_parts(self):
        try:
            for place, part in enumerate(super()._list_parts()):
                if (self.n_passes, place) == self.at:
                    raise self.error
                yield part
        finally:
            self.closed += 1


@pytest.mark.parametrize(("at", "charged"), [((1, 5), 0), ((2, 5), 1), ((3, 0), 1)])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError("gone")])
def test_a_training_that_breaks_off_is_charged_at_most_once(at, charged, error):
    frame, labels = some_records(200, 2, 0)
    budget, source = Budget(10), Breaking(frame, labels, at, error)
    learner = PrivaTreeClassifier(5.0, schema=schema_of(2), lookahead=1, budget=budget)
    with pytest.raises(type(error)):
        learner.fit(source)
    assert len(budget.charges) == charged
    assert source.closed == at[0]
    assert not hasattr(learner, "tree_")


def test_a_batch_that_cannot_be_read_stops_all_threads():
    class Unreadable(FrameBatches):
        read = 0

        def _read_part(self, part):
            self.read += 1
            if part.start == 40:
                raise SourceError("part 4 is gone.")
            return super()._read_part(part)

    frame, labels = some_records(5000, 2, 0)
    source = Unreadable(frame, labels, 10)
    with pytest.raises(SourceError, match="part 4 is gone"):
        PrivaTreeClassifier(schema=schema_of(2)).fit(source)
    assert source.read < 100


# --- what the caller may do wrong ---------------------------------------------------------------


def test_a_source_needs_a_schema_and_no_labels():
    frame, labels = some_records(50, 2, 0)
    source = FrameBatches(frame, labels, 10)
    with pytest.raises(ParameterError, match="y must be None if X is a source"):
        PrivaTreeClassifier(schema=schema_of(2)).fit(source, labels)
    with pytest.raises(ParameterError, match="schema must be given where X is a source"):
        PrivaTreeClassifier().fit(source)
    with pytest.raises(ParameterError, match=re.escape("schema must be a privatree.Schema")):
        PrivaTreeClassifier(schema={}).fit(source)
    taken = Schema({"target": Numeric(0, 1)}, ["no", "yes"])
    with pytest.raises(ParameterError.__base__, match="the target 'target' must not be a feature"):
        PrivaTreeClassifier(schema=taken).fit(source)
    model = PrivaTreeClassifier(schema=schema_of(2)).fit(source)
    assert model.n_features_in_ == 5
    assert model.feature_names_in_.tolist() == list(schema_of(2).names)
    assert model.score(frame, labels) > 0


def test_a_source_is_for_training():
    frame, labels = some_records(50, 2, 0)
    source = FrameBatches(frame, labels, 10)
    model = PrivaTreeClassifier(schema=schema_of(2)).fit(source)
    for ask in (model.predict, model.predict_proba, model.apply):
        with pytest.raises(TypeError, match="a source is for training"):
            ask(source)
    assert repr(source) == "FrameBatches(..., target='target')"


def test_progress_and_target_are_checked():
    class Named(FrameBatches):
        def __init__(self, target, progress, in_memory):
            super(FrameBatches, self).__init__(target, progress, in_memory)

    for arguments, message in (
        ((3, None, False), "target must be the name"),
        (("a", "yes", False), "progress must be True, False or None"),
        (("a", None, 1), "in_memory must be True or False"),
    ):
        with pytest.raises(ParameterError, match=message):
            Named(*arguments)
