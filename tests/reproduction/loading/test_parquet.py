import pandas as pd
import pytest

from privatree.errors import ParameterError
from privatree.reproduction.loading import _parquet as parquet

TABLE = pd.DataFrame(
    {
        "number": [0.5, -0.0, 3.0],
        "kind": pd.Categorical(["b", "a", "b"], categories=["b", "unused", "a"]),
        "target": ["p", "q", "p"],
    },
    index=[7, 8, 9],
)


def test_a_table_comes_back_with_its_fingerprint_and_without_its_index(tmp_path):
    parquet.write_parquet_file(tmp_path / "t.parquet", TABLE, "0123456789abcdef")
    table, fingerprint = parquet.read_parquet_file(tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(table, TABLE.reset_index(drop=True))
    assert fingerprint == "0123456789abcdef"
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "t.parquet"), table)


def test_what_somebody_else_wrote_has_no_fingerprint(tmp_path):
    TABLE.to_parquet(tmp_path / "t.parquet")
    table, fingerprint = parquet.read_parquet_file(tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(table, TABLE)
    assert fingerprint is None


def test_what_cannot_be_read_is_refused_with_its_path(tmp_path):
    for path in (tmp_path, tmp_path / "nowhere.parquet"):
        with pytest.raises(ParameterError, match="must be a readable Parquet file") as refused:
            parquet.read_parquet_file(path)
        assert str(refused.value).startswith(f"{path}: ")
        assert "\n" not in str(refused.value)


def test_an_interruption_is_not_called_damage(tmp_path, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("pyarrow.parquet.ParquetFile", interrupt)
    with pytest.raises(KeyboardInterrupt):
        parquet.read_parquet_file(tmp_path / "t.parquet")
