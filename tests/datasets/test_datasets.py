from importlib import resources

import pandas as pd
import pytest

from privatree import ParameterError, datasets
from privatree.schema import Categorical

# Rows, numeric features, categorical features, share of the largest class.
PUBLISHED = {
    "adult": (45222, 6, 8, 0.7522),
    "breast-w": (683, 9, 0, 0.650),
    "mushroom": (5644, 0, 22, 0.618),
    "nursery": (12960, 0, 8, 0.6667),
    "vote": (232, 0, 16, 0.534),
}


@pytest.fixture(scope="module", params=PUBLISHED)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def dataset(name):
    return datasets.load(name)


def test_names_are_the_five():
    assert datasets.names() == tuple(PUBLISHED)


def test_shape_is_the_published_one(name, dataset):
    rows, numeric, categorical, _ = PUBLISHED[name]
    kinds = [isinstance(column, Categorical) for column in dataset.schema.features.values()]
    assert len(dataset.frame) == len(dataset.labels) == rows
    assert (kinds.count(False), kinds.count(True)) == (numeric, categorical)


def test_class_share_is_the_published_one(name, dataset):
    share = dataset.labels.value_counts(normalize=True).max()
    assert share == pytest.approx(PUBLISHED[name][3], abs=6e-4)


def test_labels_are_the_classes_of_the_schema(dataset):
    assert dataset.labels.name == "target"
    assert set(dataset.labels) == set(dataset.schema.classes)


def test_columns_follow_the_schema(dataset):
    assert tuple(dataset.frame.columns) == tuple(dataset.schema.features)
    for column, feature in dataset.schema.features.items():
        dtype = dataset.frame[column].dtype
        if isinstance(feature, Categorical):
            assert isinstance(dtype, pd.CategoricalDtype)
            assert tuple(dtype.categories) == feature.categories
        else:
            assert dtype == ("int64" if feature.integer else "float64")


def test_every_value_lies_inside_the_schema(dataset):
    assert not dataset.frame.isna().any(axis=None)  # a value outside its categories would be NaN
    for column, feature in dataset.schema.features.items():
        if not isinstance(feature, Categorical):
            assert dataset.frame[column].between(feature.low, feature.high).all()


def test_documented_categories_that_never_occur_are_listed():
    adult, mushroom = datasets.load("adult"), datasets.load("mushroom")
    assert "Never-worked" in adult.schema.features["workclass"].categories
    assert "Never-worked" not in set(adult.frame["workclass"])
    assert mushroom.schema.features["veil-type"].categories == ("partial", "universal")
    assert set(mushroom.frame["veil-type"]) == {"partial"}


def test_known_rows():
    adult = datasets.load("adult")
    assert adult.frame.iloc[0].to_dict() == {
        "age": 39,
        "workclass": "State-gov",
        "fnlwgt": 77516,
        "education": "Bachelors",
        "education-num": 13,
        "marital-status": "Never-married",
        "occupation": "Adm-clerical",
        "relationship": "Not-in-family",
        "race": "White",
        "sex": "Male",
        "capital-gain": 2174,
        "capital-loss": 0,
        "hours-per-week": 40,
        "native-country": "United-States",
    }
    assert adult.labels.iloc[0] == "<=50K"


def test_mushroom_odours_have_their_documented_meaning():
    mushroom = datasets.load("mushroom")
    odor = mushroom.frame["odor"]
    assert set(mushroom.labels[odor.isin(["almond", "anise"])]) == {"edible"}
    assert set(mushroom.labels[odor.isin(["creosote", "foul", "pungent"])]) == {"poisonous"}


def test_nursery_class_is_decided_by_health():
    nursery = datasets.load("nursery")
    not_recommended = nursery.frame["health"] == "not_recom"
    assert ((nursery.labels == "not_recom") == not_recommended).all()


@pytest.mark.parametrize("wrong", ["iris", "", "../adult"])
def test_unknown_name_is_refused_and_the_five_are_named(wrong):
    with pytest.raises(ValueError, match="must be one of") as refused:
        datasets.load(wrong)
    message = str(refused.value)
    assert "\n" not in message
    assert all(known in message for known in PUBLISHED)


def test_credits_name_every_dataset():
    text = (resources.files("privatree.datasets") / "data" / "CREDITS.md").read_text("utf-8")
    assert all(f"## {known}" in text for known in PUBLISHED)
    assert text.count("\n## ") == text.count("- Licence: CC BY 4.0\n") == len(PUBLISHED)


def test_nothing_is_bundled_but_what_has_a_licence():
    folder = resources.files("privatree.datasets") / "data"
    files = {f"{known}.{ending}" for known in PUBLISHED for ending in ("parquet", "toml")}
    assert {file.name for file in folder.iterdir()} == files | {"CREDITS.md"}


def test_diabetes_is_not_here_and_it_is_said_where_it_is():
    with pytest.raises(ParameterError, match=r"no licence is known\. Download it from OpenML"):
        datasets.load("diabetes")
