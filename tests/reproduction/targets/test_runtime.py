"""The table of runtimes: which tasks it needs."""

from privatree.reproduction.running import Request


def test_by_default_it_is_one_cross_validation_at_one_tenth(asked_for, output):
    tasks = asked_for("runtime", Request(output, ("vote",), ("decision-tree", "privatree")))
    found = [(task.method, task.epsilon, task.depth, task.repeat, task.fold) for task in tasks]
    settings = (("decision-tree", None), ("privatree", 0.1))
    assert found == [(*setting, 4, 0, fold) for setting in settings for fold in range(5)]


def test_epsilons_and_repeats_as_asked(asked_for, output):
    tasks = asked_for("runtime", Request(output, ("vote",), ("privatree",), (0.5, 2.0), 3))
    found = [(task.epsilon, task.repeat, task.fold) for task in tasks]
    assert found == [(e, r, f) for e in (0.5, 2.0) for r in range(3) for f in range(5)]
