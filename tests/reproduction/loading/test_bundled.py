import pytest

from privatree import datasets
from privatree.reproduction.datasets import describe
from privatree.reproduction.loading import _bundled as bundled
from privatree.reproduction.loading import _folder as folder
from privatree.schema import Categorical, Numeric


def test_ranges_and_categories_are_those_of_the_rows_not_of_the_documentation():
    records, documented = bundled.load_bundled(describe("adult")), datasets.load("adult")
    workclass = documented.schema.features["workclass"].categories
    assert "Never-worked" in workclass
    occurring = sorted(set(workclass) - {"Never-worked"})
    assert records.schema.features["workclass"] == Categorical(occurring)
    weights = documented.frame["fnlwgt"]
    assert records.schema.features["fnlwgt"] == Numeric(
        int(weights.min()), int(weights.max()), integer=True
    )
    assert records.schema.features["fnlwgt"].high < documented.schema.features["fnlwgt"].high


@pytest.mark.parametrize("name", ["breast-w", "mushroom", "vote"])
def test_rows_and_labels_are_those_of_the_bundled_data(name):
    records, documented = bundled.load_bundled(describe(name)), datasets.load(name)
    assert records.origin == "bundled"
    assert records.labels.tolist() == documented.labels.tolist()
    assert records.schema.classes == tuple(sorted(documented.schema.classes))
    assert records.frame.astype(str).equals(documented.frame.astype(str))


def test_the_same_rows_in_a_data_folder_are_the_same_records(tmp_path):
    dataset, found = describe("vote"), datasets.load("vote")
    found.frame.astype("str").assign(target=found.labels).to_parquet(tmp_path / "vote.parquet")
    from_folder, from_package = (
        folder.load_from_folder(dataset, tmp_path),
        bundled.load_bundled(dataset),
    )
    assert from_folder.schema == from_package.schema
    assert from_folder.fingerprint == from_package.fingerprint


def test_what_is_not_bundled_is_not_there(tiny):
    assert bundled.load_bundled(tiny) is None
