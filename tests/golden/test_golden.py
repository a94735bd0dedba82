"""The same seed gives the same trees, files and texts as ever: compared with what is kept here.

A change that is meant: run ``scripts/refresh_golden.py`` and read the difference before it is kept.
"""

import json
from pathlib import Path

import pytest
from cases import CASES, records, text, trained_on

from privatree.sources import ArrowSource, CsvSource, ParquetSource

FILES = Path(__file__).parent / "files"


def near(value):
    """The same, with numbers as close as other versions of the libraries give them."""
    if isinstance(value, dict):
        return {key: near(one) for key, one in value.items()}
    if isinstance(value, list):
        return [near(one) for one in value]
    return pytest.approx(value, rel=1e-9, abs=1e-12) if isinstance(value, float) else value


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_it_is_as_it_was(name):
    kept = (FILES / name).read_text(encoding="utf-8")
    if name.endswith(".json"):
        assert json.loads(text(name)) == near(json.loads(kept))
    else:
        assert text(name) == kept


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["default", "deep", "paper"])
def test_the_tree_is_the_same_from_every_source(learner, tmp_path):
    """On a cluster too, where ``tests/sources/spark/test_source.py`` compares it with memory."""
    frame, labels, schema = records("adult")
    whole = frame.assign(target=labels)
    whole.to_csv(tmp_path / "all.csv", index=False)
    whole.to_parquet(tmp_path / "all.parquet", index=False)
    kept = json.loads((FILES / f"model-{learner}-adult.json").read_text(encoding="utf-8"))
    for source in (
        CsvSource(tmp_path / "all.csv", target="target"),
        CsvSource(tmp_path / "all.csv", target="target", in_memory=True),
        ParquetSource(tmp_path / "all.parquet", target="target"),
        ArrowSource(whole, target="target"),
    ):
        found = trained_on(learner, schema, source).model_.to_dict()
        assert found["tree"] == kept["tree"]
        assert found["privacy"] == kept["privacy"]


def test_every_file_belongs_to_a_case():
    assert {path.name for path in FILES.iterdir()} == set(CASES)
