import subprocess
import sys
from dataclasses import replace

import pandas as pd
import pytest

from privatree import datasets as bundled
from privatree.errors import DatasetMissingError, ParameterError
from privatree.reproduction import datasets
from privatree.reproduction.datasets import _catalogue
from privatree.reproduction.loading import _cached as cached
from privatree.reproduction.loading._cleaning import clean_records

COUNTS = {"numerical": 16, "mixed": 7, "uci": 6}


def test_every_suite_has_as_many_as_in_the_paper():
    assert {suite: len(datasets.names(suite)) for suite in COUNTS} == COUNTS


def test_suites_follow_each_other_and_make_up_everything():
    together = [name for suite in COUNTS for name in datasets.names(suite)]
    assert list(datasets.names()) == list(datasets.names("all")) == together
    assert len(set(together)) == 29


def test_the_order_within_a_suite_is_that_of_the_tables():
    assert datasets.names("mixed") == (
        "albert",
        "compas-two-years",
        "covertype-mixed",
        "default-of-credit-card-clients-mixed",
        "electricity-mixed",
        "eye_movements-mixed",
        "road-safety",
    )
    # Capital letters come first there.
    assert datasets.names("numerical")[:6] == (
        "Bioresponse",
        "Diabetes130US",
        "Higgs",
        "MagicTelescope",
        "MiniBooNE",
        "bank-marketing",
    )


def test_an_unknown_suite_is_refused_and_the_known_are_named():
    with pytest.raises(ParameterError, match="numerical, mixed, uci or all, got 'cifar'"):
        datasets.names("cifar")


def test_descriptions_are_consistent():
    found = [datasets.describe(name) for name in datasets.names()]
    assert [dataset.name for dataset in found] == list(datasets.names())
    assert len({dataset.openml_id for dataset in found}) == len(found)
    for dataset in found:
        assert 0 <= dataset.n_categorical <= dataset.n_features
        assert (dataset.n_categorical == 0) or dataset.suite != "numerical"
        assert (dataset.n_categorical > 0) or dataset.suite != "mixed"
        assert 0.5 <= dataset.majority_share < 1
        assert dataset.name in (dataset.title, f"{dataset.title}-mixed")


def test_a_title_in_two_suites_is_two_names():
    numerical, mixed = datasets.describe("covertype"), datasets.describe("covertype-mixed")
    assert numerical.title == mixed.title == "covertype"
    assert numerical.openml_id != mixed.openml_id


@pytest.mark.parametrize(
    ("wrong", "meant"), [("covertyp", "covertype"), ("higgs", "Higgs"), ("house16h", "house_16H")]
)
def test_a_name_that_is_nearly_right_is_corrected(wrong, meant):
    with pytest.raises(ParameterError, match="Did you mean") as refused:
        datasets.describe(wrong)
    assert meant in str(refused.value).partition("Did you mean")[2]


def test_a_name_like_no_other_gets_the_whole_list():
    with pytest.raises(ParameterError) as refused:
        datasets.load("zzzz")
    assert all(name in str(refused.value) for name in datasets.names())


def test_listing_names_loads_nothing_heavy():
    code = (
        "import sys; from privatree.reproduction import datasets; datasets.names(); "
        "print(sorted({'numpy', 'pandas', 'sklearn', 'pyarrow'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- where a dataset is looked for --------------------------------------------------------------


@pytest.fixture
def table():
    return pd.DataFrame({"x": [1, 2, 3], "target": ["a", "b", "a"]})


def test_the_data_folder_comes_first(tmp_path, table):
    table.to_parquet(tmp_path / "adult.parquet")
    records = datasets.load("adult", tmp_path)
    assert records.origin == "data folder"
    assert records.frame["x"].tolist() == [1, 2, 3]
    assert datasets.load("adult", str(tmp_path)).fingerprint == records.fingerprint


def test_bundled_datasets_come_before_the_cache(cache, table):
    cache.mkdir(parents=True)
    table.to_parquet(cache / "vote.parquet")
    assert datasets.load("vote").origin == "bundled"


def test_a_data_folder_without_the_file_is_passed_over(tmp_path, table, monkeypatch):
    assert datasets.load("vote", tmp_path).origin == "bundled"
    dataset = replace(datasets.describe("pol"), n_records=3, n_features=1, majority_share=0.667)
    monkeypatch.setattr(_catalogue, "_CATALOGUE", {"pol": dataset})
    records = clean_records(table[["x"]], table["target"], origin="OpenML", where="a test")
    cached.store_in_cache(dataset, records)
    assert datasets.load("pol", tmp_path).origin == "cache"


def test_a_data_folder_that_is_none_is_refused(tmp_path):
    with pytest.raises(ParameterError, match="the data folder must exist"):
        datasets.load("adult", tmp_path / "nowhere")


def test_what_is_nowhere_is_missing_and_the_message_says_how_to_get_it(cache):
    with pytest.raises(DatasetMissingError) as missing:
        datasets.load("house_16H")
    message = str(missing.value)
    assert "\n" not in message
    for part in ("'house_16H'", "house_16H.parquet", "--data-dir", "44123", "no connection"):
        assert part in message
    assert not cache.exists()


@pytest.mark.parametrize("name", bundled.names())
def test_bundled_datasets_have_the_shape_in_the_papers_table(name):
    dataset, records = datasets.describe(name), datasets.load(name)
    assert records.frame.shape == (dataset.n_records, dataset.n_features)
    assert len(records.frame.select_dtypes("category").columns) == dataset.n_categorical
    share = records.labels.value_counts(normalize=True).max()
    assert round(share, 3) == dataset.majority_share
    assert not records.frame.isna().any(axis=None)


def test_every_uci_dataset_is_bundled_but_the_one_without_a_licence(tmp_path, table, cache):
    assert set(datasets.names("uci")) == {*bundled.names(), "diabetes"}
    with pytest.raises(
        DatasetMissingError, match=r"diabetes\.parquet.*--data-dir.*OpenML \(id 37\)"
    ):
        datasets.load("diabetes")
    table.to_parquet(tmp_path / "diabetes.parquet")
    assert datasets.load("diabetes", tmp_path).origin == "data folder"
