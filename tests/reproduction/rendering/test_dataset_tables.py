"""The table of the datasets: measured beside published, differences and gaps in sight."""

from typing import NamedTuple

from privatree.reproduction.rendering._dataset_tables import dataset_comparison, dataset_table
from privatree.reproduction.rendering._table_formats import csv_text, markdown


class Size(NamedTuple):
    n_records: int
    n_features: int
    n_categorical: int
    majority_share: float


class ADataset(NamedTuple):
    name: str
    title: str
    suite: str
    n_records: int
    n_features: int
    n_categorical: int
    majority_share: float


GIVEN = {
    "datasets": [
        ADataset("Higgs", "Higgs", "numerical", 940160, 24, 0, 0.5),
        ADataset("covertype-mixed", "covertype", "mixed", 423680, 54, 44, 0.5),
        ADataset("adult", "adult", "uci", 45222, 14, 8, 0.752),
        ADataset("a-b", "a_b", "Others", 10, 1, 0, 0.6),
    ],
    "missing": {"Higgs": "not in the data folder"},
}
MEASURED = {
    "covertype-mixed": Size(423680, 54, 44, 0.5),
    "adult": Size(45221, 14, 8, 0.7522),
    "a-b": Size(10, 1, 1, 2 / 3),
}


def test_markdown():
    assert (
        markdown(dataset_table(MEASURED, **GIVEN))
        == """# Datasets

| dataset                                    |             samples | features | categorical features | majority class share |
| ------------------------------------------ | ------------------: | -------: | -------------------: | -------------------: |
| **Numerical data**                         |                     |          |                      |                      |
| Higgs [1]                                  |           (940,160) |     (24) |                  (0) |               (.500) |
| **Numerical & categorical data**           |                     |          |                      |                      |
| covertype                                  |   423,680 (423,680) |  54 (54) |              44 (44) |          .500 (.500) |
| **UCI datasets (numerical & categorical)** |                     |          |                      |                      |
| adult                                      | **45,221** (45,222) |  14 (14) |                8 (8) |          .752 (.752) |
| **Others**                                 |                     |          |                      |                      |
| a_b                                        |             10 (10) |    1 (1) |            **1** (0) |      **.667** (.600) |

- Rows with missing values are left out. Bold: not what the paper has.
- In parentheses: the figure that the paper published.
- [1] not in the data folder
"""  # noqa: E501
    )


def test_csv():
    lines = csv_text(dataset_comparison(MEASURED, **GIVEN)).splitlines()
    assert lines[0] == "dataset,property,measured,published,difference,note"
    assert lines[1] == "Higgs,n_records,,940160,,not in the data folder"
    assert lines[5] == "covertype-mixed,n_records,423680,423680,0,"
    assert lines[9:] == [
        "adult,n_records,45221,45222,-1,",
        "adult,n_features,14,14,0,",
        "adult,n_categorical,8,8,0,",
        "adult,majority_share,0.7522,0.752,0.0002,",
        "a-b,n_records,10,10,0,",
        "a-b,n_features,1,1,0,",
        "a-b,n_categorical,1,0,1,",
        "a-b,majority_share,0.666667,0.6,0.066667,",
    ]
