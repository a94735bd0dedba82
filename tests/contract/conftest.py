"""Searches whatever is released, printed or raised for what must stay secret."""

from __future__ import annotations

import gc
import pickle
import pickletools
import re
import traceback
import types
import weakref
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from privatree import Categorical, Numeric, Schema, Target

_NUMBER = re.compile(r"(?<![\d.])\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_IN_GROUPS = re.compile(r"(?<![\d.])\d{1,3}(?:[,_ ]\d{3})+(?:\.\d+)?(?!\d)")
_LINE_NUMBER = re.compile(r"line \d+")
_WINDOWS = ("<f8", ">f8", "<f4", "<i8", "<i4")
_PASSED_OVER = (
    type,
    types.ModuleType,
    types.BuiltinFunctionType,
    types.CodeType,
    types.FrameType,  # holds what it holds: a traceback does not print it
    types.TracebackType,
    weakref.ref,
)
_FRAME_LIBRARIES = ("pandas", "polars", "pyarrow")
_MAX_OBJECTS = 500_000


@dataclass(frozen=True)
class Canaries:
    """What must not be found.

    Every search returns what was found, in words.

    Parameters
    ----------
    texts : mapping of str to str
        Texts and what they are, searched for as they stand.
    numbers : mapping of float to str
        Numbers and what they are, searched for in digits, in bytes and as values.
    """

    texts: Mapping[str, str]
    numbers: Mapping[float, str]

    def without(self, *public: str) -> Canaries:
        """The same but for what is public after all."""
        return Canaries(
            {text: what for text, what in self.texts.items() if what not in public},
            {number: what for number, what in self.numbers.items() if what not in public},
        )

    def in_text(self, text: str) -> set[str]:
        """Search what can be read; numbers in any notation with digits."""
        found = {what for canary, what in self.texts.items() if canary in text}
        for number in _NUMBER.findall(text):
            found |= self._known(float(number))
        for number in _IN_GROUPS.findall(text):
            found |= self._known(float(re.sub("[,_ ]", "", number)))
        return found

    def in_bytes(self, data: bytes) -> set[str]:
        """Search a file: text in three encodings, numbers in five, at any place."""
        found = self.in_text(data.decode("latin-1"))
        for encoding in ("utf-8", "utf-16-le", "utf-32-le"):
            found |= {what for text, what in self.texts.items() if text.encode(encoding) in data}
        for kind in _WINDOWS:
            width = np.dtype(kind).itemsize
            if len(data) >= width:
                rows = np.lib.stride_tricks.sliding_window_view(np.frombuffer(data, "u1"), width)
                values = rows.copy().view(kind).ravel()
                if values.dtype.kind == "i":  # else 42 in the next place would be 42 * 256 here
                    values = values[values % 256 != 0]
                found |= self._in_array(values)
        return found

    def in_pickle(self, thing: Any) -> set[str]:
        """Search what pickling writes, in every protocol, and what comes back from it."""
        found: set[str] = set()
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            written = pickle.dumps(thing, protocol=protocol)
            found |= self.in_bytes(written)
            for _, argument, _ in pickletools.genops(written):
                found |= self._in_value(argument)
        return found | self.in_object(pickle.loads(written))

    def in_object(self, thing: Any) -> set[str]:
        """Search an object, all that it refers to and the memory that its arrays are views of."""
        found: set[str] = set()
        for value in _reachable(thing):
            found |= self._in_value(value)
        return found

    def in_error(self, error: BaseException) -> set[str]:
        """Search what is printed of an error, and what it and those behind it keep."""
        printed = _LINE_NUMBER.sub("", "".join(traceback.format_exception(error)))
        found = self.in_text(printed) | self.in_text(repr(error))
        behind: BaseException | None = error
        while behind is not None:  # also those that are suppressed: a debugger shows them
            found |= self.in_text(str(behind)) | self.in_object([behind.args, vars(behind)])
            behind = behind.__cause__ or behind.__context__
        return found

    def _known(self, number: float) -> set[str]:
        return {self.numbers[number]} if number in self.numbers else set()

    def _in_value(self, value: Any) -> set[str]:
        if type(value).__module__.partition(".")[0] in _FRAME_LIBRARIES:
            return {"a frame"}
        if isinstance(value, str):
            return self.in_text(value)
        if isinstance(value, (bytes, bytearray, memoryview)):
            return self.in_bytes(bytes(value))
        if isinstance(value, np.ndarray):
            return self._in_array(value)
        if isinstance(value, (bool, np.bool_)):
            return set()
        if isinstance(value, Fraction):
            parts = (float(value.numerator), float(value.denominator))
            return set().union(*map(self._known, (float(value), *parts)))
        if isinstance(value, (int, float, Decimal, np.integer, np.floating)):
            return self._known(_as_float(value))
        return set()

    def _in_array(self, array: NDArray[Any]) -> set[str]:
        if array.dtype.kind in "US":
            return self.in_text(" ".join(map(str, array.ravel().tolist())))
        if array.dtype.kind not in "iuf":
            return set()
        with np.errstate(all="ignore"):
            values = array.ravel().astype(np.float64)
        # A narrow float stands for many numbers, so it tells only whole ones.
        is_wide = array.dtype.kind == "f" and array.dtype.itemsize >= 8
        numbers = self._all_numbers if is_wide else self._whole_numbers
        places = np.minimum(np.searchsorted(numbers, values), len(numbers) - 1)
        matching = np.unique(values[numbers[places] == values])
        return set().union(*map(self._known, matching.tolist()))

    @cached_property
    def _all_numbers(self) -> NDArray[np.float64]:
        return np.array([*sorted(self.numbers), np.inf])

    @cached_property
    def _whole_numbers(self) -> NDArray[np.float64]:
        return np.array([n for n in self._all_numbers if n.is_integer() or n == np.inf])


def _reachable(start: Any) -> Iterator[Any]:
    """An object and everything that can be reached from it, classes and modules passed over."""
    waiting, seen, kept = [start], set[int](), list[Any]()
    while waiting:
        value = waiting.pop()
        if id(value) in seen or isinstance(value, _PASSED_OVER):
            continue
        seen.add(id(value))
        kept.append(value)  # else its id could be another's soon
        assert len(kept) < _MAX_OBJECTS, "this reaches too far to be searched"
        yield value
        waiting.extend(_inside(value))


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, types.FunctionType):  # not its module's names
        cells = value.__closure__ or ()
        return [*(cell.cell_contents for cell in cells), value.__defaults__, vars(value)]
    if isinstance(value, np.ndarray):
        items = value.ravel().tolist() if value.dtype.kind in "OV" else ()
        return [value.base, *items]
    slots = [name for kind in type(value).__mro__ for name in _slots(kind)]
    return [
        *gc.get_referents(value),
        *(getattr(value, name, None) for name in slots),
        getattr(value, "__dict__", None),
    ]


def _slots(kind: type) -> Iterable[str]:
    names = vars(kind).get("__slots__", ())
    return [names] if isinstance(names, str) else names


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except (OverflowError, ValueError):
        return float("nan")


# --- records that carry canaries ----------------------------------------------------------------

_SCHEMA = Schema(
    {
        "amount": Numeric(0, 100_000),
        "level": Numeric(0, 50, integer=True),
        "kind": Categorical(["red", "green", "blue"]),
    },
    ["no", "yes"],
)
_SCHEMA_OF_COSTS = Schema(_SCHEMA.features, target=Target(0, 1_000_000, name="cost"))
_KINDS = {"red": 13_007, "green": 11_003, "blue": 8_009, "kind-canary": 4_001, None: 4_003}
_N_NO, _N_UNKNOWN, _N_MISSING, _N_WITHOUT_COST = 21_001, 3_001, 5_003, 4_507
_MIN_COUNT = 3_000  # no tree has so many nodes
VALUE, RECORDS, TEXT = "a value of a record", "number of records", "text of a record"


@dataclass(frozen=True)
class PrivateRecords:
    """Records whose every amount and every count is distinctive, and what must not be found."""

    schema: Schema
    frame: pd.DataFrame
    labels: pd.Series
    """Classes or, where the schema has a target, numbers."""
    secret: Canaries

    @property
    def known(self) -> NDArray[np.bool_]:
        """Whether each record has a label that training uses."""
        if self.schema.target is not None:
            return self.labels.notna().to_numpy()
        return self.labels.isin(self.schema.classes).to_numpy()

    def with_leaves(self, leaves: NDArray[np.int32]) -> Canaries:
        """What must not be found, and exact counts and shares, or means, of these leaves."""
        numbers = dict(self.secret.numbers)
        for leaf in np.unique(leaves):
            of_leaf = self.labels[(leaves == leaf) & self.known]
            if self.schema.target is not None:
                found, what = [float(len(of_leaf)), *_means(of_leaf)], "count or mean of a leaf"
            else:
                found, what = _counts_and_shares(of_leaf), "count or share of a leaf"
            for number in found:
                if number > _MIN_COUNT or 0 < number < 1:
                    numbers.setdefault(float(number), what)
        return Canaries(self.secret.texts, numbers)


def _counts_and_shares(labels: pd.Series) -> list[float]:
    counts = labels.value_counts().to_numpy()
    is_large = counts.sum() > _MIN_COUNT and len(counts) > 1
    return [*counts, counts.sum(), *(counts / counts.sum() if is_large else [])]


def _means(costs: pd.Series) -> list[float]:
    """Mean and median, as they stand and clipped to the range."""
    clipped = costs.clip(_SCHEMA_OF_COSTS.target.low, _SCHEMA_OF_COSTS.target.high)
    return [float(way) for one in (costs, clipped) for way in (one.mean(), one.median())]


def _private_records() -> PrivateRecords:
    rng = np.random.default_rng(6)
    kind = np.repeat(np.array(list(_KINDS), dtype=object), list(_KINDS.values()))
    rng.shuffle(kind)
    n = len(kind)
    amount = rng.integers(0, 99_999, n) + 0.09375  # no public cut has such a fraction
    amount[:3] = (48_637.09375, 774_137.09375, -5_077.09375)
    level = rng.integers(0, 51, n).astype(float)
    level[rng.permutation(n)[:_N_MISSING]] = np.nan
    labels = np.full(n, "label-canary", dtype=object)
    known = np.sort(rng.permutation(n)[_N_UNKNOWN:])
    in_order = known[np.argsort(amount[known] + 40_000 * (kind[known] == "red"))]
    labels[in_order[:_N_NO]], labels[in_order[_N_NO:]] = "no", "yes"
    index = [f"index-canary-{i}" for i in range(n)]
    frame = pd.DataFrame({"amount": amount, "level": level, "kind": kind}, index=index)
    target = pd.Series(labels, index=index)
    return PrivateRecords(_SCHEMA, frame, target, _secret(frame, target))


def _records_with_costs(records: PrivateRecords) -> PrivateRecords:
    """The same records with a number as target, which grows with the amount."""
    frame = records.frame
    rng = np.random.default_rng(7)
    cost = 5 * frame["amount"] + rng.integers(0, 50_000, len(frame)) + 0.203125
    cost.iloc[:3] = (1_774_137.203125, -35_077.203125, 648_637.203125)
    cost.iloc[3 + rng.permutation(len(frame) - 3)[:_N_WITHOUT_COST]] = np.nan
    numbers = dict(records.secret.numbers)
    numbers |= dict.fromkeys(cost.dropna().tolist(), VALUE)
    numbers |= dict.fromkeys([float(cost.sum()), *_means(cost)], "a mean")
    counts = {"number of targets": len(frame) - _N_WITHOUT_COST, "without": _N_WITHOUT_COST}
    assert not set(counts.values()) & set(numbers)
    numbers |= {float(count): what for what, count in counts.items()}
    texts = {**records.secret.texts, "1774137": VALUE, "35077": VALUE}
    return PrivateRecords(_SCHEMA_OF_COSTS, frame, cost, Canaries(texts, numbers))


def _secret(frame: pd.DataFrame, labels: pd.Series) -> Canaries:
    counts = {
        "number of known records": int(labels.isin(_SCHEMA.classes).sum()),
        "number of missing values": int(frame["level"].isna().sum()),
        "number of missing categories": int(frame["kind"].isna().sum()),
        **{f"number of {label}": int(c) for label, c in labels.value_counts().items()},
        **{f"number of {kind}": int(c) for kind, c in frame["kind"].value_counts().items()},
        RECORDS: len(frame),
    }
    shares = {f"share of {label}": share for label, share in labels.value_counts(True).items()}
    values = frame["amount"].to_numpy()
    # A threshold just below a value tells it as well.
    numbers = dict.fromkeys([*values.tolist(), *np.nextafter(values, -np.inf).tolist()], VALUE)
    numbers |= {float(amount): what for what, amount in (counts | shares).items()}
    numbers[float(frame["amount"].mean())] = numbers[float(frame["amount"].sum())] = "a mean"
    assert min(counts.values()) > _MIN_COUNT
    assert len(set(counts.values())) == len(counts)
    texts = dict.fromkeys(("kind-canary", "label-canary", "index-canary"), TEXT)
    return Canaries(texts | {"48637": VALUE, "774137": VALUE}, numbers)


@pytest.fixture(scope="session")
def canaries() -> type[Canaries]:
    """What must not be found, and how to search for it."""
    return Canaries


@pytest.fixture(scope="session")
def private_records() -> PrivateRecords:
    """Records of which nothing may be found; do not change them."""
    return _private_records()


@pytest.fixture(scope="session")
def records_with_costs(private_records: PrivateRecords) -> PrivateRecords:
    """Records with a number as target, of which nothing may be found; do not change them."""
    return _records_with_costs(private_records)
