import pickle
import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from privatree.counting import Binner, Candidates
from privatree.counting import _binner as coding
from privatree.schema import Categorical, Numeric, Schema
from privatree.tables import frame_batch, open_frame, read_features, read_labels

NUMBERS = Schema(
    {
        "a": Numeric(-1, 1, missing=0.3),
        "b": Numeric(0, 1e6, integer=True),
        "grade": Categorical([3, 0.5, 1], missing=1),
        "c": Numeric(-1e300, 1e300, missing=1e300),
        "d": Numeric(2, 5, cuts=[2, 3, 4.5]),
        "e": Numeric(7, 7),
    },
    [0, 1],
)
CUTS = Candidates.from_schema(NUMBERS, 256).cuts
SEPARATE = Schema(
    {name: replace(feature, missing="separate") for name, feature in NUMBERS.features.items()},
    NUMBERS.classes,
)


def one_by_one(frame, schema, cuts, names=None):
    """What the codes must be: clip, put missing values in their place, search."""
    columns = read_features(frame, schema, names)
    pairs = zip(columns, cuts, strict=True)
    return np.stack([c if at is None else np.searchsorted(at, c) for c, at in pairs], axis=1)


def binner_of(schema, cuts):
    """A binner with these cuts, whose categories have each their own code."""
    features = schema.features.values()
    sizes = [
        feature.n_codes if at is None else len(at) + 1
        for feature, at in zip(features, cuts, strict=True)
    ]
    groups = [np.arange(n) if at is None else None for n, at in zip(sizes, cuts, strict=True)]
    return Binner(schema, tuple(cuts), tuple(groups), tuple(sizes))


def read_codes(frame, schema, cuts, names=None, threads=2):
    """The codes of a frame, each row of which has a known label."""
    n_rows = len(frame) if isinstance(frame, list) else open_frame(frame).n_rows
    batch = frame_batch(frame, [schema.classes[0]] * n_rows, schema, names)
    codes, labels = binner_of(schema, cuts).bin_batch(batch, threads)
    assert_array_equal(labels, np.zeros(n_rows))
    return codes


def check(frame, schema=NUMBERS, cuts=CUTS, names=None):
    codes = read_codes(frame, schema, cuts, names)
    assert codes.flags.c_contiguous
    assert codes.dtype == np.uint8
    assert_array_equal(codes, one_by_one(frame, schema, cuts, names))
    if schema is NUMBERS:
        check(frame, SEPARATE, Candidates.from_schema(SEPARATE, 256).cuts, names)
    return codes


# --- one array of numbers -----------------------------------------------------------------------


def odd_values(dtype):
    """Every cut in this type and its neighbours, and what else a type can hold."""
    cuts = np.concatenate([at for at in CUTS if at is not None] + [[0.5, 1.0, 3.0]])
    with np.errstate(all="ignore"):
        if dtype.kind == "f":
            near = cuts.astype(dtype)
            down, up = (
                np.nextafter(near, dtype.type(-np.inf)),
                np.nextafter(near, dtype.type(np.inf)),
            )
            ends = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e5], dtype=dtype)
            return np.concatenate((near, down, up, ends)).astype(dtype)
    if dtype.kind == "b":
        return np.array([False, True])
    limits = np.iinfo(dtype)
    near = np.unique(
        np.clip(np.floor(cuts[np.abs(cuts) < 2**62]), limits.min // 2, limits.max // 2)
    )
    whole = near.astype(dtype)
    ends = np.array([limits.min, limits.max, limits.max - 1, limits.max // 2 + 1], dtype=dtype)
    return np.concatenate((whole, whole + dtype.type(1), ends)).astype(dtype)


LAYOUTS = {
    "by rows": np.ascontiguousarray,
    "by columns": np.asfortranarray,
    "strided": lambda array: np.repeat(np.repeat(array, 2, axis=0), 3, axis=1)[::2, ::3],
    "backwards": lambda array: np.ascontiguousarray(array[::-1, ::-1])[::-1, ::-1],
}
DTYPES = [
    "f2",
    "f4",
    "f8",
    "longdouble",
    "?",
    "i1",
    "u1",
    "i2",
    "i4",
    "u4",
    "i8",
    "u8",
    ">f4",
    ">i8",
]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_of_every_type_and_layout(dtype, layout):
    dtype = np.dtype(dtype)
    values = odd_values(dtype.newbyteorder("="))
    rng = np.random.default_rng(0)
    columns = [rng.permutation(values) for _ in NUMBERS.names]
    array = LAYOUTS[layout](np.stack(columns, axis=1).astype(dtype))
    array.flags.writeable = False
    check(array)


@pytest.mark.slow
@given(
    st.lists(st.floats(-9, 9), max_size=60, unique=True),
    st.lists(st.floats(-10, 10, width=32) | st.just(float("nan")), max_size=40),
    st.sampled_from([np.float32, np.float64]),
)
def test_a_value_equal_to_a_cut_belongs_to_its_left(cuts, values, dtype):
    schema = Schema({"x": Numeric(-9, 9.5, missing=1)}, [0, 1])
    cuts = np.sort(np.array(cuts, dtype=float))
    with np.errstate(all="ignore"):
        near = cuts.astype(dtype)
    values = np.concatenate((np.array(values, dtype=dtype), near, np.nextafter(near, dtype(9.5))))
    check(values[:, None], schema, [cuts])


def test_a_narrow_float_is_compared_with_the_cut_itself():
    third = 1 / 3  # the nearest float32 is above it
    schema = Schema({"x": Numeric(0, 1)}, [0, 1])
    near = np.float32(third)
    array = np.array([[np.nextafter(near, np.float32(0))], [near]], dtype=np.float32)
    assert_array_equal(read_codes(array, schema, [np.array([third])]), [[0], [1]])
    assert_array_equal(read_codes(array, schema, [np.array([float(near)])]), [[0], [0]])


@pytest.mark.parametrize("n_cuts", [0, 1, 14, 15, 16, 17, 31, 32, 33, 47, 48, 255, 256, 1000])
def test_any_number_of_cuts(n_cuts):
    schema = Schema({"x": Numeric(0, n_cuts + 1, missing=n_cuts), "y": Numeric(0, 1)}, [0, 1])
    cuts = [np.arange(n_cuts) + 0.5, np.array([0.25])]
    x = np.append(np.arange(-1, n_cuts + 2, 0.5), np.nan)
    codes = read_codes(np.stack((x, x), axis=1), schema, cuts)
    assert codes.dtype == (np.uint8 if n_cuts <= 255 else np.uint16)
    assert_array_equal(codes, one_by_one(np.stack((x, x), axis=1), schema, cuts))
    assert codes[:, 0].max() == n_cuts
    assert codes[-1, 0] == n_cuts  # the place of missing values, above the last cut


@pytest.mark.parametrize(("size", "dtype"), [(256, np.uint8), (257, np.uint16)])
def test_any_number_of_categories(size, dtype):
    schema = Schema({"x": Numeric(0, 1), "y": Categorical(range(size))}, [0, 1])
    array = np.array([[0.0, size - 1.0], [1.0, -1.0]])
    codes = read_codes(array, schema, [np.array([0.5]), None])
    assert codes.dtype == dtype
    assert_array_equal(codes, [[0, size - 1], [1, 0]])


# --- other containers ---------------------------------------------------------------------------

MIXED = Schema(
    {
        "size": Numeric(-2, 5, missing=1),
        "colour": Categorical(["red", "grün", ""], missing="grün"),
        "count": Numeric(0, 2**60, integer=True, missing=3),
        "member": Categorical([True, False], missing=False),
        "grade": Categorical([3, 0.5, 1], missing=1),
    },
    ["yes", "no"],
)
MIXED_CUTS = Candidates.from_schema(MIXED, 64).cuts
ARROW_TYPES = [pa.float64(), pa.string(), pa.int64(), pa.bool_(), pa.float64()]
ROWS = st.lists(
    st.tuples(
        st.none() | st.floats(),
        st.none() | st.sampled_from(["red", "grün", "", "blue"]),
        st.none() | st.integers(-(2**63), 2**63 - 1),
        st.none() | st.booleans(),
        st.none() | st.sampled_from([3.0, 0.5, 1.0, 2.0, float("nan")]),
    ),
    max_size=12,
)


def arrow_table(rows):
    columns = zip(*rows, strict=True) if rows else [()] * 5
    arrays = [pa.array(c, t) for c, t in zip(columns, ARROW_TYPES, strict=True)]
    return pa.table(arrays, names=list(MIXED.names))


def pandas_frame(rows, *dtypes):
    columns = zip(*rows, strict=True) if rows else [()] * 5
    pairs = zip(MIXED.names, columns, dtypes, strict=True)
    return pd.DataFrame({name: pd.Series(list(c), dtype=dtype) for name, c, dtype in pairs})


def nullable(rows):
    return pandas_frame(rows, "Float64", "str", "Int64", "boolean", "Float64")


CONTAINERS = {
    "lists": lambda rows: [list(row) for row in rows],
    "pandas object": lambda rows: pandas_frame(rows, *[object] * 5),
    "pandas nullable": nullable,
    "pandas category": lambda rows: nullable(rows).astype("category"),
    "pandas floats": lambda rows: pandas_frame(rows, "f8", object, "f8", object, "f4"),
    "polars": lambda rows: pl.from_arrow(arrow_table(rows)),
    "arrow": arrow_table,
    "arrow chunks": lambda rows: pa.concat_tables(
        [arrow_table([row]) for row in rows] or [arrow_table([])]
    ),
    "opened before": lambda rows: open_frame(arrow_table(rows)),
}


@pytest.mark.slow
@pytest.mark.parametrize("container", CONTAINERS)
@settings(max_examples=20)
@given(rows=ROWS)
def test_every_container(container, rows):
    check(CONTAINERS[container](rows), MIXED, MIXED_CUTS)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
def test_frames_of_one_type_and_masked_arrays(dtype):
    values = np.random.default_rng(0).integers(-3, 9, (500, len(NUMBERS.names))).astype(dtype)
    expected = check(values)
    names = list(NUMBERS.names)
    columns = {name: values[:, place].copy() for place, name in enumerate(names)}
    for frame in (pd.DataFrame(values, columns=names), pd.DataFrame(columns),
                  pl.DataFrame(columns), pa.table(columns), np.ma.MaskedArray(values)):  # fmt: skip
        assert_array_equal(check(frame), expected)
    check(np.ma.MaskedArray(values, mask=values % 3 == 1))


def test_columns_are_matched_by_name():
    values = np.random.default_rng(0).normal(0, 2, (50, len(NUMBERS.names)))
    expected = check(values)
    order = [4, 2, 0, 5, 1, 3]
    names = [NUMBERS.names[place] for place in order]
    assert_array_equal(check(values[:, order], names=names), expected)
    assert_array_equal(check(pd.DataFrame(values[:, order], columns=names)), expected)
    assert_array_equal(check(pl.DataFrame(values[:, order], schema=names)), expected)


@pytest.mark.parametrize("frame", [[], np.zeros((0, 6)), np.zeros((0, 6), dtype=int)])
def test_no_rows(frame):
    assert read_codes(frame, NUMBERS, CUTS).shape == (0, 6)


# --- labels and groups --------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "labels",
    [
        ["no", None, "yes", "maybe", "no"],
        pd.Series(["no", None, "yes", "maybe", "no"], dtype="category"),
        pa.array(["no", None, "yes", "maybe", "no"]),
    ],
    ids=["list", "categories", "arrow"],
)
def test_only_rows_with_a_known_label_are_coded(monkeypatch, labels, threads):
    monkeypatch.setattr(coding, "_MIN_ROWS", 2)
    monkeypatch.setattr(coding, "_MAX_ROWS", 2)
    schema = Schema({"x": Numeric(0, 5)}, ["yes", "no"])
    batch = frame_batch(np.arange(5.0)[:, None], labels, schema)
    codes, found = binner_of(schema, [np.array([1.5, 2.5, 3.5])]).bin_batch(batch, threads)
    assert_array_equal(codes, [[0], [1], [3]])
    assert_array_equal(found, [1, 0, 1])
    assert codes.flags.c_contiguous
    assert (codes.dtype, found.dtype) == (np.uint8, np.uint8)


@pytest.mark.parametrize(
    ("n_classes", "dtype"),
    [(2, np.uint8), (128, np.uint8), (129, np.uint8), (256, np.uint8), (257, np.uint16)],
)
@pytest.mark.parametrize("kind", ["i8", "f4", "O"])
def test_labels_have_the_smallest_type(n_classes, dtype, kind):
    schema = Schema({"x": Numeric(0, 5)}, list(range(n_classes)))
    y = np.arange(-1, n_classes + 1).astype(kind)
    batch = frame_batch(np.zeros((len(y), 1)), y, schema)
    _, labels = binner_of(schema, [np.array([1.5])]).bin_batch(batch)
    assert labels.dtype == dtype
    assert_array_equal(labels, np.arange(n_classes))
    assert_array_equal(labels, [label for label in read_labels(y, schema) if label >= 0])


@pytest.mark.parametrize("kind", ["i8", "f8", "O", "category"])
def test_many_categories_share_codes(kind):
    schema = Schema({"x": Categorical(range(1300), missing=700)}, [0, 1])
    candidates = Candidates.from_schema(schema, 16)
    binner = Binner(schema, candidates.cuts, candidates.groups, candidates.n_codes)
    (groups,) = candidates.groups
    values = pd.DataFrame({"x": pd.Series(np.arange(1301)).astype(kind)})
    codes, _ = binner.bin_batch(frame_batch(values, [0] * 1301, schema))
    assert codes.dtype == np.uint16
    assert_array_equal(codes[:, 0], [*groups, groups[700]])


def test_a_binner_can_be_pickled_and_leaves_its_tables_behind():
    binner = binner_of(NUMBERS, CUTS)
    before = len(pickle.dumps(binner))
    batch = frame_batch(np.random.default_rng(0).normal(size=(9, 6)), [0, 1, 2] * 3, NUMBERS)
    codes, labels = binner.bin_batch(batch)
    content = pickle.dumps(binner)
    assert len(content) < before + 1000, "its tables have many times that"
    assert binner._cut_search._below.nbytes > 2000
    again, labels_again = pickle.loads(content).bin_batch(batch)
    assert_array_equal(again, codes)
    assert_array_equal(labels_again, labels)


# --- tiles, threads and memory ------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("rows", [1, 7, 100, 2**20])
def test_tiles_and_threads_do_not_matter(monkeypatch, rows, threads):
    rng = np.random.default_rng(0)
    values = rng.normal(0, 3, (200, 6))
    values[rng.random(values.shape) < 0.1] = np.nan
    expected = check(values)
    monkeypatch.setattr(coding, "_MIN_ROWS", rows)
    monkeypatch.setattr(coding, "_MAX_ROWS", rows)
    for frame in (values, np.asfortranarray(values), pl.DataFrame(values, schema=NUMBERS.names),
                  pd.DataFrame(values, columns=list(NUMBERS.names)).astype("Float64")):  # fmt: skip
        assert_array_equal(read_codes(frame, NUMBERS, CUTS, threads=threads), expected)


def test_an_error_in_a_thread_is_not_lost(monkeypatch):
    def broken(*arguments):
        raise ZeroDivisionError

    monkeypatch.setattr(coding.CutSearch, "fill_bins", broken)
    with pytest.raises(ZeroDivisionError):
        read_codes(np.zeros((100_000, 6)), NUMBERS, CUTS)


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_input_is_not_copied(order):
    rng = np.random.default_rng(0)
    array = np.asarray(rng.normal(size=(200_000, 24)), dtype=np.float32, order=order)
    schema = Schema({f"x{i}": Numeric(-4, 4) for i in range(24)}, [0, 1])
    binner = binner_of(schema, Candidates.from_schema(schema, 256).cuts)
    labels = np.zeros(len(array), dtype=np.int8)
    binner.bin_batch(frame_batch(array[:10], labels[:10], schema))  # compiles
    tracemalloc.start()
    codes, _ = binner.bin_batch(frame_batch(array, labels, schema), threads=2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < codes.nbytes + 2**22
    assert codes.nbytes == array.size
