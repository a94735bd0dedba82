import math

import numpy as np
import pandas as pd
import pytest

from privatree import Categorical
from privatree.forecast import Setting
from privatree.forecast._made_up import N_TABLES, made_up_records


@pytest.mark.parametrize(
    ("classes", "share", "features"), [(2, 0.5, 2), (2, 0.9, 30), (5, 0.4, 8), (3, None, None)]
)
def test_a_table_has_the_public_facts_of_the_setting(classes, share, features):
    setting = Setting(3000, (1.0,), classes=classes, majority_share=share, features=features)
    for table in (0, 7):
        (X, y), (test_X, test_y), schema = made_up_records(table, setting, 0)
        assert len(X) == len(y) == 3000
        assert len(schema.classes) == classes
        assert len(schema.features) == X.shape[1] == test_X.shape[1]
        assert features is None or X.shape[1] == features
        if share is not None:
            n = 3000 + len(test_y)  # five standard deviations and a half: wrong once in 10^7
            slack = 5.5 * math.sqrt(share * (1 - share) / n)
            assert abs(np.mean(np.concatenate([y, test_y]) == "class 0") - share) < slack


def test_values_are_those_that_the_schema_declares():
    kinds = set()
    for table in range(6):
        (X, _), _, schema = made_up_records(table, Setting(100, (1.0,), features=12), 0)
        for name, feature in schema.features.items():
            kinds.add(type(feature))
            if isinstance(feature, Categorical):
                assert isinstance(X[name].dtype, pd.CategoricalDtype)
                assert tuple(X[name].cat.categories) == tuple(feature.categories)
                assert not X[name].isna().any()
            else:
                assert X[name].between(feature.low, feature.high).all()
    assert len(kinds) == 2


def test_what_is_not_known_differs_from_table_to_table():
    shares, widths = set(), set()
    for table in range(N_TABLES):
        (X, _), (_, test_y), _ = made_up_records(table, Setting(500, (1.0,)), 0)
        shares.add(round(np.mean(test_y == "class 0"), 1))
        widths.add(X.shape[1])
    assert {0.5, 0.6, 0.7, 0.8} <= shares
    assert widths == {6, 12, 20}


def test_the_same_seed_gives_the_same_records_of_the_same_law():
    def table(number, seed, repeat):
        (X, y), _, schema = made_up_records(number, Setting(100, (1.0,), seed=seed), repeat)
        return X.assign(y=y), schema

    first, schema = table(0, 0, 0)
    pd.testing.assert_frame_equal(first, table(0, 0, 0)[0])
    again, same = table(0, 0, 1)
    assert same == schema
    assert not again.equals(first)
    for other in (table(0, 1, 0), table(3, 0, 0)):
        assert not other[0].equals(first)


def test_the_class_can_be_told_from_the_features():
    """Half of the tables have a numeric feature that shows it by itself."""
    strongest = []
    for table in range(N_TABLES):
        (X, y), _, _ = made_up_records(table, Setting(500, (1.0,), majority_share=0.5), 0)
        numbers = X.select_dtypes("number")
        strongest.append(np.abs(numbers.corrwith(pd.Series(y == "class 0"))).max())
    assert np.median(strongest) > 0.25
