import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from privatree import Numeric
from privatree.inspection import profile_table
from privatree.sources import read_files_without_schema

RNG = np.random.default_rng(0)
N = 200


def facts_of(values, *, trim=False):
    labels = np.arange(len(values)) % 2
    (column,) = profile_table(pd.DataFrame({"x": values}), labels, trim=trim).columns
    return column


# --- whole numbers ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "values",
    [
        [65.0, 70.0, None, 18.0],
        [65.0, np.inf, 70.0, 18.0],
        pd.array([65, None, 70, 18], dtype="Int64"),
        pa.array([65.0, None, 70.0, 18.0], pa.float32()).to_pandas(),
        pd.Series([65.0, 70, None, 18], dtype=object),
    ],
    ids=range(5),
)
def test_whole_numbers_are_whole_whatever_their_type(values):
    found = facts_of(values).feature
    assert found == Numeric(18, 70, integer=True)
    assert isinstance(found.low, int)


def test_whole_numbers_written_with_decimals_in_files(tmp_path):
    frame = pd.DataFrame({"age": [65, None, 18, 70], "size": [1.5, 2, 3, 4], "y": list("abab")})
    frame.to_csv(tmp_path / "data.csv", index=False)
    assert "65.0," in (tmp_path / "data.csv").read_text()
    frame.to_parquet(tmp_path / "data.parquet")
    (tmp_path / "words.csv").write_text("age,size,y\n65.0,1.5,a\n?,2,b\n18.0,3,a\n70.0,4,b\n")
    for name in ("data.csv", "data.parquet", "words.csv"):
        read = read_files_without_schema([tmp_path / name], "y")
        age, size = profile_table(read.features, read.labels, trim=name.endswith("csv")).columns
        assert (age.numbers or age.feature) == Numeric(18, 70, integer=True), name
        assert size.feature == Numeric(1.5, 4), name


@pytest.mark.parametrize("values", [[0.5, 1, 2, 3], [1e300, 1, 2, 3], [2.0**53, 1, 2, 3]], ids=str)
def test_what_is_not_whole_or_not_exact_is_no_integer(values):
    assert not facts_of(values).feature.integer


# --- numbers that were given out ----------------------------------------------------------------

NUMBERED = {
    "rows": np.arange(N),
    "rows, shuffled": RNG.permutation(N) + 1,
    "some of many": RNG.choice(100_000, N, replace=False),
    "of one length": 10_000_000 + RNG.integers(0, 1000, N) ** 2,
    "with decimals": np.append(np.arange(N - 1.0), np.nan),
    "very long": 10**17 + np.arange(N),
    "beyond the integers": 1e25 + np.arange(N) * 1e12,
    "text": pd.Series([str(n) for n in range(N - 2)] + ["none", "?"]),
}
AMOUNTS = {
    "incomes": np.round(np.exp(RNG.normal(10, 1, N))),
    "populations": (10 ** RNG.uniform(2, 7, N)).astype(np.int64),
    "balances": np.round(RNG.normal(0, 10_000, N)),
    "measurements": RNG.uniform(0, 100_000, N),
}


@pytest.mark.parametrize("name", NUMBERED)
def test_numbers_that_were_given_out(name):
    found = facts_of(NUMBERED[name], trim=True)
    assert found.is_numbered
    assert found.n_distinct >= 0.9 * N


@pytest.mark.parametrize("name", AMOUNTS)
def test_amounts_are_not_taken_for_them(name):
    found = facts_of(AMOUNTS[name])
    assert not found.is_numbered
    assert found.n_distinct >= 0.9 * N
