import pytest

from privatree import ParameterError
from privatree.audit import file_pairs
from privatree.audit.pairs import chosen_pairs
from privatree.audit.pairs._neighbours import table_pairs
from privatree.audit.pairs._unit_neighbours import unit_pairs

EPSILONS = (0.1, 1.0, 8.0)


def test_pairs_are_chosen_by_name_once_each():
    names = [*table_pairs(), *unit_pairs(), *file_pairs()]
    assert [pair.name for pair in chosen_pairs(None)] == names
    assert [pair.name for pair in chosen_pairs(["outlier", "open-quote", "outlier"])] == [
        "outlier", "open-quote",
    ]  # fmt: skip
    sizes = [len(chosen_pairs(["size-threshold"], epsilon)[0].first.y) for epsilon in EPSILONS]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == 3
    with pytest.raises(ParameterError, match=r"pairs must be among purity, .*, got 'pure'\."):
        chosen_pairs(["purity", "pure"])
