from dataclasses import replace

import pandas as pd
import pytest

from privatree.reproduction.loading._cleaning import clean_records
from privatree.reproduction.loading._shape import describe_shape_mismatch


@pytest.fixture
def records():
    frame = pd.DataFrame({"a": range(7), "b": range(7), "c": list("xyxyxyx")})
    return clean_records(frame, pd.Series(list("pqpqpqp")), origin="OpenML", where="a test")


def test_the_papers_shape(tiny, records):
    assert describe_shape_mismatch(tiny, records) == ""


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"n_records": 8}, "8 records"),
        ({"n_features": 4}, "4 features"),
        ({"n_categorical": 2}, "(2 categorical)"),
        ({"majority_share": 0.57}, "0.570"),
    ],
)
def test_another_shape_is_said_beside_the_papers(tiny, records, change, part):
    found, _, paper = describe_shape_mismatch(replace(tiny, **change), records).partition(
        ", but the paper's "
    )
    assert found == "it has 7 records, 3 features (1 categorical) and a majority of 0.571"
    assert part in paper
