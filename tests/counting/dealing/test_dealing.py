"""A record's part depends on the record and the key alone, and parts look like tosses of a coin."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privatree.counting.dealing import Dealing, PassDealing
from privatree.privacy import Randomness
from privatree.schema import Categorical, Numeric, Schema, Target
from privatree.tables import frame_batch, open_labels

SCHEMA = Schema({"size": Numeric(0, 10), "colour": Categorical(["red", "blue"])}, ["no", "yes"])
RECORDS = st.lists(
    st.tuples(
        st.sampled_from([0.0, -0.0, 3.5, np.nan, 99.0]),
        st.sampled_from(["red", "blue", "?", None]),
        st.sampled_from(["no", "yes", "?"]),
    ),
    max_size=25,
)
SEEDS = st.integers(0, 2**32)


def dealing_of(seed, share=Fraction(1, 3), schema=SCHEMA):
    return Dealing.draw(schema, share, Randomness(seed))


def batch_of(records, **side):
    frame = pd.DataFrame(
        {
            "size": np.array([one[0] for one in records], dtype=float),
            "colour": np.array([one[1] for one in records], dtype=object),
        }
    )
    labels = np.array([one[2] for one in records], dtype=object)
    batch = frame_batch(frame, labels, SCHEMA)
    columns = {name: open_labels(np.array(values)).columns[0] for name, values in side.items()}
    return type(batch)(batch.n_rows, batch.features, batch.labels, batch.array, **columns)


def written(record):
    """A record as the learner sees it."""
    size, colour, label = record
    return (
        "missing" if np.isnan(size) else float(size) + 0.0,
        colour if colour in ("red", "blue") else "red",  # the public place of other values
        label if label in ("no", "yes") else "missing",
    )


def parts_of(dealing, batches):
    """How often each record is in each part."""
    dealt, found = PassDealing(dealing), Counter()
    for records in batches:
        if records:
            for record, held_out in zip(
                records, dealt.are_held_out(batch_of(records)).tolist(), strict=True
            ):
                found[written(record), held_out] += 1
    return found


@pytest.mark.slow
@given(RECORDS, SEEDS, st.randoms(use_true_random=False), st.integers(1, 9))
def test_parts_depend_neither_on_the_order_nor_on_batches(records, seed, random, size):
    dealing = dealing_of(seed)
    mixed = random.sample(records, len(records))
    batches = [mixed[start : start + size] for start in range(0, len(mixed), size)]
    assert parts_of(dealing, batches) == parts_of(dealing, [records])


@given(RECORDS, RECORDS.filter(len), SEEDS, st.integers(0, 25))
def test_one_more_record_changes_one_part_only(records, others, seed, place):
    dealing = dealing_of(seed)
    before = parts_of(dealing, [records])
    after = parts_of(dealing, [[*records[:place], others[0], *records[place:]]])
    assert (after - before).total() == 1
    assert (before - after).total() == 0


@pytest.mark.parametrize("kind", [np.float32, np.float16, object, "Int64", "int8"])
def test_the_type_of_a_column_changes_no_fingerprint(kind):
    numbers = pd.Series([0, 1, 5, 1])
    colours = pd.Series(["red", "blue", "grey", None], dtype=object)
    labels = np.array(["no", "yes", "no", None], dtype=object)
    expected = dealing_of(1).fingerprint_rows(
        frame_batch(
            pd.DataFrame({"size": numbers.astype(float), "colour": colours}), labels, SCHEMA
        )
    )
    frame = pd.DataFrame({"size": numbers.astype(kind), "colour": colours.astype("category")})
    found = dealing_of(1).fingerprint_rows(frame_batch(frame, labels.astype(str), SCHEMA))
    np.testing.assert_array_equal(found, expected)
    assert len(np.unique(found, axis=1).T) == 4


def test_missing_values_are_equal_and_so_are_both_zeros():
    payload = np.array([0x7FF8000000000001, 0xFFF8000000000000], dtype=np.uint64).view(float)
    records = [(0.0, "red", "no"), (-0.0, "red", "no"), (np.nan, "red", "no")]
    records += [(value, "red", "no") for value in payload]
    first, second = dealing_of(1).fingerprint_rows(batch_of(records))
    assert len(set(first[:2].tolist())) == len(set(first[2:].tolist())) == 1
    assert len(set(zip(first.tolist(), second.tolist(), strict=True))) == 2


def test_the_weight_and_the_exact_target_belong_to_the_row():
    """What only the test of a model looks at tells rows apart, too."""
    records = [(1.0, "red", "no")] * 3
    found = dealing_of(1).fingerprint_rows(batch_of(records, weight=[1.0, 1.5, 1.0]))
    assert found[0, 0] == found[0, 2] != found[0, 1]
    schema = Schema({"size": Numeric(0, 10)}, target=Target(0, 1e9))
    batch = frame_batch(pd.DataFrame({"size": [1.0, 1.0]}), np.array([1.0, 1.0 + 1e-9]), schema)
    same = schema.target.code_of([1.0, 1.0 + 1e-9])
    found = dealing_of(1, schema=schema).fingerprint_rows(batch)
    assert same[0] == same[1]
    assert found[0, 0] != found[0, 1]


@pytest.mark.parametrize("ids", [[7, 8, 7, 9, 8], ["7", " 8", "7 ", "9", "8"]])
def test_all_records_of_a_unit_are_in_one_part(ids):
    records = [(float(k), "red", "no") for k in range(5)]
    for seed in range(20):
        found = PassDealing(dealing_of(seed)).are_held_out(batch_of(records, unit=ids))
        assert found[0] == found[2]
        assert found[1] == found[4]
        alone = PassDealing(dealing_of(seed)).are_held_out(batch_of(records[:1], unit=[9]))
        assert alone[0] == found[3]


def test_a_record_without_an_id_is_not_held_out():
    batch = batch_of([(1.0, "red", "no")] * 2, unit=["", "a"])
    dealing = dealing_of(0, share=Fraction(999, 1000))
    assert PassDealing(dealing).are_held_out(batch).tolist() == [False, True]


@pytest.mark.parametrize("share", [Fraction(1, 5), Fraction(1, 2)])
def test_parts_look_like_tosses_of_a_coin(share):
    """Copies, different rows and units: six standard deviations of a binomial number."""
    n, p = 20_000, float(share)
    bound = 6 * np.sqrt(n * p * (1 - p))
    copies = batch_of([(1.0, "red", "no")] * n)
    rows = frame_batch(
        pd.DataFrame({"size": np.linspace(0, 1, n), "colour": "red"}), np.full(n, "no"), SCHEMA
    )
    units = batch_of([(1.0, "red", "no")] * n, unit=np.arange(n))
    for seed in range(3):
        for batch in (copies, rows, units):
            held_out = PassDealing(dealing_of(seed, share)).are_held_out(batch)
            assert abs(held_out.sum() - n * p) <= bound
            both = (held_out[1:] & held_out[:-1]).sum()  # neighbours are independent
            assert abs(both - n * p**2) <= 6 * np.sqrt(3 * n * p**2)


def test_another_key_deals_anew():
    batch = batch_of([(1.0, "red", "no")] * 400)
    first, again, other = (
        PassDealing(dealing_of(seed, Fraction(1, 2))).are_held_out(batch) for seed in (0, 0, 1)
    )
    assert (first == again).all()
    assert 120 <= (first == other).sum() <= 280  # eight standard deviations


def test_only_rows_of_a_part_have_labels():
    dealing = dealing_of(0, Fraction(1, 2))
    batch = batch_of([(float(k), "red", "no") for k in range(40)])
    held_out = PassDealing(dealing).are_held_out(batch)
    for part in (dealing.training, dealing.held_out):
        chosen = part.begin_pass()(batch)
        np.testing.assert_array_equal(chosen.in_part, held_out == part.is_held_out)
