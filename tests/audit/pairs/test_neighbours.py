import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from privatree import Categorical
from privatree.audit import Records
from privatree.audit._views import VIEWS
from privatree.audit.pairs._neighbours import table_pairs
from privatree.baselines.methods._method import encode_method_numbers
from privatree.learners.tree import DrawSubtree, RecordPlan

EPSILONS = (0.1, 1.0, 8.0)
PAIRS = table_pairs()
EACH = pytest.mark.parametrize("pair", PAIRS.values(), ids=list(PAIRS))


def multiset(table: Records) -> Counter:
    return Counter(
        zip(*(table.X[name].tolist() for name in table.X), table.y.tolist(), strict=True)
    )


@EACH
def test_the_tables_differ_in_one_record(pair):
    first, second = multiset(pair.first), multiset(pair.second)
    assert sorted([(first - second).total(), (second - first).total()]) == [0, 1]
    assert not pair.replaced


@EACH
def test_everything_in_the_tables_is_declared(pair):
    for X, y in (pair.first, pair.second):
        assert isinstance(X, pd.DataFrame)
        assert list(X.columns) == list(pair.schema.names)
        assert X.index.tolist() == list(range(len(y)))
        assert set(y.tolist()) <= set(pair.schema.classes)
        for name, feature in pair.schema.features.items():
            if isinstance(feature, Categorical):
                assert set(X[name]) <= set(feature.categories)
                assert X[name].cat.categories.tolist() == list(feature.categories)
            else:
                assert X[name].between(feature.low, feature.high).all()


@EACH
def test_a_pair_says_what_it_is_after_and_names_views_that_are_there(pair):
    assert PAIRS[pair.name] is pair
    assert pair.after
    assert pair.effort >= 1
    assert {event.view for event in pair.events} <= VIEWS.keys()
    assert pair.needs is None or pair.needs in VIEWS
    for event in pair.events:
        assert event.likelier in ("first", "second")
        assert not event.happens(None)
        assert not event.happens(("error", "ValueError: no"))


def test_named_events_happen_where_they_say():
    (purity,), (alone,), (members,) = (
        PAIRS[name].events for name in ("purity", "many-features", "first-row")
    )
    assert purity.happens((0, (), ()))
    assert not purity.happens((0, (1, (), ()), ()))
    assert not purity.happens((1, (), ()))
    assert alone.happens(())
    assert not alone.happens((0, (), ()))
    agreeing = tuple(str(float(place % 2)) for place in range(10))
    assert members.happens(agreeing)
    assert members.happens(("1", "0", "1", *agreeing[3:]))
    assert not members.happens(("1", "0", "1", "0", *agreeing[4:]))
    assert not members.happens(agreeing[:9])
    (lead,), (noisy_size,) = PAIRS["lead"].events, PAIRS["noisy-size"].events
    assert lead.happens(("1",))
    assert not lead.happens(("0",))
    assert noisy_size.happens((0, (), ()))
    assert not noisy_size.happens((1, (), ()))
    assert not noisy_size.happens(())
    # Without the first row, the class at each place is the other one.
    first_row = PAIRS["first-row"]
    assert np.all(first_row.second.y == 1 - first_row.first.y[:9])


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_one_record_decides_whether_there_are_two_levels(epsilon):
    pair = table_pairs(epsilon)["size-threshold"]
    assert pair.max_depth == 2
    plan = RecordPlan(Fraction(epsilon), 2, (), (2, 2), max_depth=2)

    def levels(n_records):
        stage = plan.stage(plan.root(n_records))
        return len(stage.grids) + 1 if isinstance(stage, DrawSubtree) else 2

    assert [levels(len(table.y)) for table in (pair.first, pair.second)] == [1, 2]


def test_only_the_pair_that_depends_on_it_changes_with_epsilon():
    other = table_pairs(0.1)
    changed = {
        name for name in PAIRS if len(PAIRS[name].first.y) != len(other[name].first.y)
    }  # fmt: skip
    assert changed == {"size-threshold"}
    assert len(table_pairs(1e-9)["size-threshold"].first.y) < 20_001  # it ends


@EACH
def test_a_pair_can_be_given_as_numbers(pair):
    encoded = pair.encoded(encode_method_numbers)
    for table, original in ((encoded.first, pair.first), (encoded.second, pair.second)):
        assert table.X.shape == original.X.shape
        assert table.X.dtype == np.float64
        assert math.isfinite(table.X.sum())
        assert table.y is original.y
    assert (encoded.name, encoded.schema, encoded.events) == (pair.name, pair.schema, pair.events)
