import numpy as np
import pytest

from privatree import datasets
from privatree.forecast import Setting
from privatree.forecast._bundled import bundled_records, usable_datasets


def test_a_dataset_that_is_too_small_is_left_out():
    usable, left_out = usable_datasets(Setting(4515, (1.0,)))  # 80% of mushroom's 5,644
    assert usable == ("adult", "mushroom", "nursery")
    assert left_out["breast-w"] == "it has only 683 records"
    usable, left_out = usable_datasets(Setting(4516, (1.0,), without=("adult",)))
    assert usable == ("nursery",)
    assert left_out["adult"] == "as you asked"
    assert left_out["mushroom"] == "it has only 5,644 records"


def test_datasets_of_two_classes_say_nothing_of_three():
    usable, left_out = usable_datasets(Setting(100, (1.0,), classes=3))
    assert usable == ()
    assert set(left_out.values()) == {"it has 2 classes"}


def test_a_dataset_can_have_too_few_records_of_a_class():
    _, left_out = usable_datasets(Setting(550, (1.0,), majority_share=0.9))
    assert left_out["breast-w"] == "it has only 493 records with this share of the classes"


@pytest.mark.parametrize("share", [None, 0.5, 0.9])
def test_records_are_thinned_and_no_record_is_in_both_parts(share):
    setting = Setting(200, (1.0,), majority_share=share)
    (X, y), (test_X, test_y), schema = bundled_records("breast-w", setting, 0)
    labels = datasets.load("breast-w").labels
    assert len(X) == len(y) == 200
    assert not set(X.index) & set(test_X.index)
    assert tuple(schema.features) == tuple(X.columns)
    both = np.concatenate([y, test_y])
    assert np.array_equal(both, labels[[*X.index, *test_X.index]])
    wanted = (labels == "benign").mean() if share is None else share
    assert abs((both == "benign").mean() - wanted) < 1 / len(both)
    assert len(both) == {None: 683, 0.5: 478, 0.9: 493}[share]


def test_records_follow_from_the_seed_and_the_repeat():
    def rows(seed, repeat):
        return list(bundled_records("vote", Setting(100, (1.0,), seed=seed), repeat)[0][0].index)

    assert rows(0, 0) == rows(0, 0)
    assert len({tuple(rows(seed, repeat)) for seed in range(3) for repeat in range(3)}) == 9
