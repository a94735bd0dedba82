from collections import Counter

import pytest
from sklearn.dummy import DummyClassifier

from privatree import ParameterError, PrivaTreeClassifier
from privatree.audit import audit
from privatree.audit.pairs._unit_neighbours import unit_pairs

PAIRS = unit_pairs()
EACH = pytest.mark.parametrize("pair", PAIRS.values(), ids=list(PAIRS))


class IgnoresUnits(PrivaTreeClassifier):
    """Takes every record for a unit of its own."""

    def fit(self, X, y=None, *, sample_weight=None, units=None):
        return super().fit(X.assign(person=range(len(X))), y, sample_weight=sample_weight)


@EACH
def test_the_tables_differ_by_all_records_of_one_person(pair):
    first, second = (
        Counter(zip(table.X["person"], table.X["f0"], table.X["f1"], table.y, strict=True))
        for table in (pair.first, pair.second)
    )
    assert not first - second
    (person,) = {person for person, *_ in second - first}
    assert person not in set(pair.first.X["person"])
    assert (second - first).total() == pair.sizes[1] - pair.sizes[0] >= 5
    assert pair.schema.unit == "person"
    assert list(pair.first.X.columns) == [*pair.schema.names, "person"]


def test_the_person_of_one_pair_is_at_two_places_of_both_classes():
    added = PAIRS["two-places"].second.X["person"] == 10
    assert added.sum() == 40
    assert set(PAIRS["two-places"].second.X["f0"][added]) == {"0", "1"}
    assert set(PAIRS["two-places"].second.y[added]) == {0, 1}


def test_a_learner_that_ignores_units_is_refuted_and_ours_is_not():
    pair = PAIRS["two-places"]
    report = audit(IgnoresUnits(1.0, random_state=0), pair, runs=100)
    assert report.refuted
    assert "false for all records of one person." in " ".join(str(report).split())
    assert "10 and 50 records, which differ by all records of one person" in str(report)
    assert report.to_dict()["findings"][0]["unit"] == "person"
    assert not audit(PrivaTreeClassifier(1.0, random_state=0), pair, runs=100).refuted


def test_a_learner_that_knows_no_units_is_not_judged_by_them():
    with pytest.raises(ParameterError, match="the parameter units of fit"):
        audit(DummyClassifier(), PAIRS["one-person"], runs=8, claimed=1)
