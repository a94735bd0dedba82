"""The exact law of the learner's own code: private, sharp, and the law of the text."""

import math
from fractions import Fraction

import numpy as np
import pytest
from definitions import coarse, law_by_definition

from privatree.audit import Universe, exact_law, exact_privacy_loss, shape_of
from privatree.audit.exact._enumeration import Script, ScriptedLedger, run_every_execution
from privatree.counting import BinnedRecords
from privatree.errors import TooFewRecordsError
from privatree.learners.tree import ClassGrowth, SubtreeNode, grow_tree
from privatree.learners.tree import _plan as record_plan
from privatree.privacy import Ledger, Randomness
from privatree.schema import Categorical, Numeric, Schema

TOLERANCE = 1e-9

# --- how executions are listed --------------------------------------------------------------------


def test_every_execution_is_listed_once_with_its_probability():
    def two_coins_and_if_both_show_1_a_die(script):
        coins = [script.choose_outcome(np.log([0.25, 0.75])) for _ in range(2)]
        die = (
            script.choose_outcome(np.array([-np.inf, np.log(0.5), np.log(0.5)]))
            if all(coins)
            else None
        )
        return (*coins, die)

    found = [
        (result, math.exp(script.log_probability))
        for script, result in run_every_execution(two_coins_and_if_both_show_1_a_die)
    ]
    expected = {(0, 0, None): 2, (0, 1, None): 6, (1, 0, None): 6, (1, 1, 1): 9, (1, 1, 2): 9}
    assert len(found) == 5
    assert {result: 32 * p for result, p in found} == pytest.approx(expected)


@pytest.mark.parametrize(
    ("sizes", "n_classes", "epsilon", "settings"),
    [
        ((2, "3"), 2, 8, {"lookahead": 1, "largest_count": 2}),
        ((2, "2"), 3, 1, {"lookahead": 1, "largest_count": 1}),
        ((2, 2), 2, 1, {"robust_levels": 3, "largest_count": 2}),
        ((2, 2), 2, 2, {"probability_share": Fraction(1, 4), "largest_count": 2}),
    ],
)
def test_the_law_adds_up_to_one_and_holds_the_tree_that_is_grown(
    sizes, n_classes, epsilon, settings
):
    u = Universe.of(*sizes, n_classes=n_classes)
    table = u.table({((0, 0), 0): 2, ((1, 1), 1): 1})
    plan = u.plan(epsilon, 2, **settings)
    law = exact_law(u, plan, table)
    assert sum(law.values()) == pytest.approx(1.0, abs=TOLERANCE)
    ledger = Ledger(plan.epsilon, Randomness(1))
    assert shape_of(grow_tree(u.records(table), u.candidates, plan, u.schema, ledger)) in law


def test_counts_must_be_those_the_plan_can_have():
    u = Universe.of(2, 2)
    plan = u.plan(1, 1, largest_count=4)
    with pytest.raises(ValueError, match=r"end with plan\.largest_count"):
        exact_privacy_loss(u, plan, [], counts=(0, 3))
    with pytest.raises(ValueError, match="Choose a smaller largest_count"):
        exact_law(u, u.plan(1, 1), next(u.tables(0)))


# --- private, and sharp ---------------------------------------------------------------------------

SIZE, COUNT, SPLIT = "number of records", "class counts before a split", "split"
ONE, TWO, THREE = (
    "last level with labels",
    "last 2 levels with their labels",
    "last 3 levels with their labels",
)
TWO_SPLITS = {(COUNT, 0), (SPLIT, 0), (COUNT, 1), (SPLIT, 1), (ONE, 2)}

# name: values of each feature, classes, depth, the plan, stages that there are
LEARNERS = {
    "lookahead 1": (
        (3, 2),
        2,
        3,
        {"lookahead": 1, "counts": (0, 512)},
        TWO_SPLITS | {(SIZE, 0), (ONE, 0), (ONE, 1)},
    ),
    "lookahead 1, declared n": (
        (3, 2),
        2,
        3,
        {"lookahead": 1, "dataset_size": 512},
        TWO_SPLITS | {(ONE, 0), (ONE, 1)},
    ),
    "lookahead 1, categories": (
        ("3",),
        2,
        3,
        {"lookahead": 1, "counts": (0, 512)},
        TWO_SPLITS | {(SIZE, 0), (ONE, 0), (ONE, 1)},
    ),
    "lookahead 1, three classes": (
        ("3",),
        3,
        2,
        {"lookahead": 1, "counts": (0, 512)},
        {(SIZE, 0), (COUNT, 0), (SPLIT, 0), (ONE, 1)},
    ),
    "lookahead 1, three classes, declared n": (
        ("3",),
        3,
        3,
        {"lookahead": 1, "counts": (0, 512), "dataset_size": 512},
        TWO_SPLITS | {(ONE, 1)},
    ),
    "lookahead 2": ((3, 2), 2, 2, {"lookahead": 2}, {(SIZE, 0), (ONE, 0), (TWO, 0)}),
    "lookahead 2, categories": (("3", 2), 2, 2, {"lookahead": 2}, {(SIZE, 0), (ONE, 0), (TWO, 0)}),
    "lookahead 2, three classes": (("3",), 3, 2, {"lookahead": 2}, {(SIZE, 0), (TWO, 0)}),
    "lookahead 2 below a split": (
        (3, 2),
        2,
        3,
        {"lookahead": 2, "dataset_size": 512, "counts": (0, 512)},
        {(COUNT, 0), (SPLIT, 0), (ONE, 0), (TWO, 1)},
    ),
    "lookahead 3": ((3, 2), 2, 3, {"dataset_size": 512}, {(THREE, 0)}),
    "lookahead 3, three classes": (("3",), 3, 3, {"dataset_size": 512}, {(THREE, 0)}),
    "robust": ((3, 2), 2, 3, {"robust_levels": 3, "counts": (0, 161, 512)}, TWO_SPLITS),
    "robust, categories": (
        ("3", 2),
        2,
        2,
        {"robust_levels": 2, "counts": (0, 512)},
        {(COUNT, 0), (SPLIT, 0), (ONE, 1)},
    ),
    "robust, three classes": (
        ("3",),
        3,
        2,
        {"robust_levels": 2, "counts": (0, 512)},
        {(COUNT, 0), (SPLIT, 0), (ONE, 1)},
    ),
    "probabilities": (
        ("3",),
        2,
        1,
        {"probability_share": Fraction(1, 4), "counts": (0, 512)},
        {(SIZE, 0), (ONE, 0)},
    ),
    "probabilities, lookahead 2": (
        ("3",),
        2,
        2,
        {"probability_share": Fraction(1, 4), "counts": (0, 512), "dataset_size": 512},
        {(TWO, 0)},
    ),
}


# At 8 no slack can hide a wrong rate. At 1 rates are another number and nothing else: one learner
# for each way to plan its stages is enough.
ALSO_AT_1 = (
    "lookahead 1, categories",
    "lookahead 2, categories",
    "lookahead 2 below a split",
    "lookahead 3",
    "robust, categories",
    "probabilities",
)


@pytest.mark.parametrize(
    ("name", "epsilon"), [(name, 8) for name in LEARNERS] + [(name, 1) for name in ALSO_AT_1]
)
def test_the_whole_learner_and_each_stage_lose_epsilon_and_no_more(piles, name, epsilon):
    sizes, n_classes, depth, settings, stages = LEARNERS[name]
    u = Universe.of(*sizes, n_classes=n_classes)
    settings = {"counts": (0, 1, 512)} | settings
    counts = settings.pop("counts")
    plan = u.plan(epsilon, depth, largest_count=counts[-1], **settings)
    found = exact_privacy_loss(u, plan, [piles(u)], counts=counts)
    assert found.loss <= epsilon + TOLERANCE
    assert found.recorded == epsilon
    assert set(found.stages) == stages
    assert max(found.stages.values()) <= 1 + TOLERANCE
    if epsilon == 8:
        assert found.loss >= 0.99 * epsilon
        assert min(found.stages.values()) >= 0.99


SEPARATE = {
    "numbers": {
        "f0": Numeric(0, 1, integer=True, missing="separate"),
        "f1": Categorical(["here"], missing="separate"),
    },
    "categories": {"f0": Categorical(["a", "b"], missing="separate")},
}


@pytest.mark.parametrize(
    ("kind", "lookahead", "epsilon"),
    [(kind, lookahead, 8) for kind in SEPARATE for lookahead in (1, 2, 3)]
    + [("numbers", 3, 1), ("categories", 2, 1)],
)
def test_missing_values_with_a_place_of_their_own(piles, kind, lookahead, epsilon):
    u = Universe(Schema(SEPARATE[kind], [0, 1]))
    assert u.candidates.n_codes == ((3, 2) if kind == "numbers" else (3,))
    plan = u.plan(epsilon, 3, lookahead=lookahead, largest_count=512)
    found = exact_privacy_loss(u, plan, [piles(u)], counts=(0, 512))
    assert found.loss <= epsilon + TOLERANCE
    assert max(found.stages.values()) <= 1 + TOLERANCE
    if epsilon == 8:
        assert found.loss >= 0.99 * epsilon


def test_the_law_has_trees_that_ask_whether_a_value_is_missing():
    u = Universe(Schema(SEPARATE["numbers"], [0, 1]))
    law = exact_law(u, u.plan(8, 1, lookahead=1, largest_count=2), u.table({((0, 1), 1): 2}))
    questions = {shape[:2] for shape in law if len(shape) == 4}
    assert questions == {(0, -math.inf), (0, 0.5), (1, (0,))}


@pytest.mark.parametrize(
    ("epsilon", "integer", "high"), [(1, True, 40), (8, True, 40), (8, False, 1)]
)
def test_zooming_in_loses_no_more_than_it_costs(monkeypatch, epsilon, integer, high):
    """All intervals, and all trees after each of them."""
    monkeypatch.setattr(record_plan, "ZOOM_EVIDENCE", 1)
    u = Universe(Schema({"x": Numeric(0, high, integer=integer)}, [0, 1]), 16, zoom_levels=2)
    piled = u.table({((2,), 0): 160, ((len(u.kinds) // 4,), 1): 160})
    plan = u.plan(epsilon, 1, dataset_size=512, largest_count=512)
    found = exact_privacy_loss(u, plan, [piled, *u.tables(0)], counts=(0, 512))
    assert found.loss <= epsilon + TOLERANCE
    assert found.recorded == epsilon
    assert set(found.stages) == {("interval of x", 0), (ONE, 0)}
    assert max(found.stages.values()) <= 1 + TOLERANCE
    if epsilon == 8:
        assert min(found.stages.values()) > 0.99
    law = exact_law(u, plan, next(u.tables(0)))
    assert sum(law.values()) == pytest.approx(1.0, abs=TOLERANCE)


@pytest.mark.parametrize("lookahead", [1, 2, 3])
@pytest.mark.parametrize(
    ("sizes", "most", "pile"),
    [
        ((2, 2), 1, [((0, 0), 0), ((0, 1), 0), ((1, 0), 1)]),
        ((4,), 0, [((1,), 0), ((2,), 1), ((3,), 0)]),  # where wrong regions show best
    ],
)
def test_subtrees_at_many_tables(sizes, most, pile, lookahead):
    u = Universe.of(*sizes)
    plan = u.plan(8, lookahead, lookahead=lookahead, dataset_size=512, largest_count=512)
    tables = [*u.tables(most), u.table({pile[0]: 10}), u.table(dict.fromkeys(pile, 10))]
    found = exact_privacy_loss(u, plan, tables, counts=(0, 512))
    assert 0.99 * 8 <= found.loss <= 8 + TOLERANCE
    assert set(found.stages) == {([ONE, TWO, THREE][lookahead - 1], 0)}


@pytest.mark.parametrize(
    ("epsilon", "settings"),
    [
        (8, {"lookahead": 1, "largest_count": 3}),
        (8, {"robust_levels": 2, "largest_count": 2}),
    ],
)
def test_all_noisy_counts_and_all_tables_of_few_records(epsilon, settings):
    u = Universe.of(2, 2)
    found = exact_privacy_loss(u, u.plan(epsilon, 2, **settings), u.tables(1))
    assert found.loss <= epsilon + TOLERANCE
    assert max(found.stages.values()) <= 1 + TOLERANCE
    assert (SPLIT, 0) in found.stages


# Of a record replaced, one of class 0 by one of class 1 where class 1 is piled up, every stage can
# tell twice as much as of one added: the noisy counts, if one is too large and the other too small;
# the split, if they are equal, so that both classes weigh the same, and if the larger pile is to be
# cut off from the record; the label, if it is 0.
# name: values of each feature, classes, depth, the plan
REPLACED = {
    "lookahead 1": ((4,), 2, 3, {"lookahead": 1}),
    "lookahead 1, categories": (("3",), 2, 2, {"lookahead": 1}),
    "lookahead 1, three classes": (("3",), 3, 2, {"lookahead": 1, "counts": (0, 512)}),
    "lookahead 2": ((3, 2), 2, 2, {"lookahead": 2}),
    "lookahead 2, three classes": (("3",), 3, 2, {"lookahead": 2}),
    "lookahead 3": ((3, 2), 2, 3, {"lookahead": 3}),
    "robust": ((4,), 2, 3, {"robust_levels": 3}),
    "robust, categories": (("3",), 2, 2, {"robust_levels": 2}),
    "probabilities": (("3",), 2, 1, {"probability_share": Fraction(1, 4), "counts": (0, 512)}),
}


@pytest.mark.parametrize(
    ("name", "epsilon"),
    [(name, 8) for name in REPLACED] + [("lookahead 2", 1), ("robust, categories", 1)],
)
def test_a_replaced_record_costs_twice(name, epsilon):
    sizes, n_classes, depth, settings = REPLACED[name]
    settings = {"counts": (0, 20, 512)} | settings
    counts = settings.pop("counts")
    u = Universe.of(*sizes, n_classes=n_classes)
    first_codes = [(code, *(0,) * (len(sizes) - 1)) for code in range(3)]
    piled = u.table(dict(zip(((codes, 1) for codes in first_codes), (160, 80, 40), strict=True)))
    plan = u.plan(
        Fraction(epsilon, 2), depth, dataset_size=sum(piled) + 1, largest_count=512, **settings
    )
    found = exact_privacy_loss(u, plan, [piled], neighbours="replace", counts=counts)
    assert found.loss <= epsilon + TOLERANCE
    assert max(found.stages.values()) <= 2 + TOLERANCE
    if epsilon == 8:
        assert found.loss >= 0.99 * epsilon
        assert min(found.stages.values()) >= 1.98  # so halves are what is needed


def test_subtrees_on_coarser_grids(monkeypatch):
    monkeypatch.setattr(record_plan, "_GRIDS", {3: ((2, 3),), 2: ((3,),)})
    u = Universe.of(6)
    piled = u.table({((2,), 0): 20, ((5,), 1): 20})
    for lookahead in (2, 3):
        plan = u.plan(8, lookahead, lookahead=lookahead, dataset_size=512, largest_count=512)
        found = exact_privacy_loss(u, plan, [piled, *u.tables(0)], counts=(0, 512))
        assert 0.99 * 8 <= found.loss <= 8 + TOLERANCE


# --- the law of a subtree, from its definition alone ----------------------------------------------


@pytest.mark.parametrize("epsilon", [1, 3])
@pytest.mark.parametrize(
    ("sizes", "n_classes", "n_levels", "coarse_to"),
    [
        ((3, 2), 2, 1, ()),
        (("3", 2), 2, 1, ()),
        (("3", 2), 3, 1, ()),
        ((3, 2), 2, 2, ()),
        (("3", 2), 2, 2, ()),
        ((3, "3"), 3, 2, ()),
        ((5, 2), 2, 2, (3,)),
        ((2, 2), 2, 3, ()),
        ((3, 2), 2, 3, ()),
        ((2, "3"), 2, 3, ()),
        ((4, 2), 2, 3, (2, 3)),
        ((2, 2), 3, 3, ()),
    ],
)
def test_a_subtree_has_the_law_of_its_definition(
    monkeypatch, sizes, n_classes, n_levels, coarse_to, epsilon
):
    u = Universe.of(*sizes, n_classes=n_classes)
    if coarse_to:
        monkeypatch.setattr(record_plan, "_GRIDS", {n_levels: (coarse_to,)})
    grids = [u.candidates.base_measure]
    for n_codes in reversed(coarse_to):
        grids.insert(0, coarse(u, grids[0], n_codes))
    grids = [grids[0]] * (n_levels - len(grids)) + grids
    rng = np.random.default_rng(0)
    table = tuple(rng.poisson(1.5, len(u.kinds)).tolist())
    plan = u.plan(epsilon, n_levels, lookahead=n_levels, dataset_size=4000, largest_count=4000)
    found = exact_law(u, plan, table)
    stops = plan.stage(plan.root(4000)).stop_shares
    expected = law_by_definition(u, table, epsilon, grids, stops)
    assert found.keys() == expected.keys()
    assert max(abs(found[shape] - expected[shape]) for shape in found) < TOLERANCE
    assert max(abs(math.log(found[s] / expected[s])) for s in found) < TOLERANCE


# --- nothing but released values decides ----------------------------------------------------------


class RandomScript(Script):
    """Draws anything that is possible, whatever the records are."""

    def __init__(self, seed):
        super().__init__()
        self._rng = np.random.default_rng(seed)

    def choose_outcome(self, log_probabilities):
        possible = np.flatnonzero(log_probabilities > -np.inf)
        self.transcript.append((len(log_probabilities), *possible.tolist()))
        return int(self._rng.choice(possible))


def tables_that_differ(u, n_classes):
    """Many records, few, none, one class only, constant features."""
    rng = np.random.default_rng(0)
    codes = np.stack([rng.integers(0, n, 300) for n in u.candidates.n_codes], axis=1)
    labels = rng.integers(0, n_classes, 300)
    for x, y in [
        (codes, labels),
        (codes[:3], labels[:3]),
        (codes[:0], labels[:0]),
        (codes, np.zeros_like(labels)),
        (np.zeros_like(codes), labels),
    ]:
        yield x.astype(np.uint8), y.astype(np.uint8)


def scripted(u, codes, labels, plan, seed):
    """Tree, spends, and how many outcomes every draw had."""
    script, account = RandomScript(seed), Ledger(plan.epsilon, Randomness(0))
    records = BinnedRecords(codes, u.candidates.n_codes, labels, plan.n_classes)
    ledger = ScriptedLedger(account, script, (0, 1, 2, 3, 5, 9, 30, 100, 1000, 2**40), records)
    tree = grow_tree(records, u.candidates, plan, u.schema, ledger)
    return tree, list(account.spends()), script.transcript


def looks_at_records(u, plan, n_seeds=20):
    """Whether some table gives another result although the same values were released."""
    differ = False
    results = set()
    for seed in range(n_seeds):
        first, *others = (
            scripted(u, codes, labels, plan, seed)
            for codes, labels in tables_that_differ(u, plan.n_classes)
        )
        differ |= any(other != first for other in others)
        results.add(shape_of(first[0]))
    assert len(results) > n_seeds / 2
    return differ


PLANS = [
    (2, {"max_depth": 6}),
    (2, {"max_depth": 6, "lookahead": 1}),
    (3, {"max_depth": 5, "lookahead": 2, "probability_share": Fraction(1, 5)}),
    (2, {"max_depth": 4, "robust_levels": 4}),
]


@pytest.mark.parametrize(("n_classes", "settings"), PLANS)
def test_trees_spends_and_stages_depend_on_released_values_only(n_classes, settings):
    u = Universe.of(40, "5", 3, n_classes=n_classes)
    assert not looks_at_records(u, u.plan(1, **settings))


def leaf_where_empty(real):
    def mutant(growth, node):
        if not isinstance(node, SubtreeNode) and node.exact_totals.sum() == 0:
            return growth._begin_subtree(node, growth._plan.label(node.at))
        return real(growth, node)

    return mutant


def exact_size(real):
    return lambda growth, ledger: int(growth._records.class_totals().sum()) or real(growth, ledger)


@pytest.mark.parametrize(
    ("method", "mutant"), [("decide_stage", leaf_where_empty), ("release_size", exact_size)]
)
def test_mutants_that_look_are_seen(monkeypatch, method, mutant):
    monkeypatch.setattr(ClassGrowth, method, mutant(getattr(ClassGrowth, method)))
    u = Universe.of(40, "5", 3)
    assert looks_at_records(u, u.plan(1, max_depth=6, lookahead=1))


# --- a training that stops at the noisy number of records -----------------------------------------


STOPPING = [
    {"lookahead": 1},
    {"lookahead": 2, "dataset_size": 512},
    {"robust_levels": 2},
    {"probability_share": Fraction(1, 4)},
]


@pytest.mark.parametrize("epsilon", [1, 8])
@pytest.mark.parametrize("settings", STOPPING, ids=str)
def test_a_training_that_may_stop_loses_epsilon_and_no_more(piles, settings, epsilon):
    u = Universe.of(2)
    plan = u.plan(epsilon, 2, min_records=1, largest_count=512, **settings)
    counts = (0, 512) if plan.probability_share else (0, 1, 512)  # four leaves have two each
    found = exact_privacy_loss(u, plan, [piles(u), *u.tables(1)], counts=counts)
    assert found.loss <= epsilon + TOLERANCE
    assert found.recorded == epsilon
    assert found.decision is None
    assert max(found.stages.values()) <= 1 + TOLERANCE
    assert found.stages[SIZE, 0] >= 0.99 * (epsilon == 8)


@pytest.mark.parametrize("settings", STOPPING, ids=str)
def test_a_stopped_training_releases_the_noisy_number_and_nothing_else(settings):
    u = Universe.of(2)
    table = u.table({((0,), 0): 2, ((1,), 1): 1})
    plan = u.plan(8, 1, min_records=2, largest_count=4, **settings)
    law = exact_law(u, plan, table)
    assert sum(law.values()) == pytest.approx(1.0, abs=TOLERANCE)
    stopped = {shape: p for shape, p in law.items() if len(shape) == 1}
    free = 1 - (settings.get("probability_share") or 0)
    a = math.exp(-0.24 * free)  # 3% of epsilon 8; the law of 0 is that of all numbers up to 0
    assert stopped == pytest.approx({(0,): a**3 / (1 + a), (1,): a**2 * (1 - a) / (1 + a)})


def test_the_training_stops_where_the_law_says():
    u = Universe.of(2)
    table = u.table({((0,), 0): 2, ((1,), 1): 1})
    plan = u.plan(8, 1, min_records=2)
    for seed in range(40):
        ledger, sizes = Ledger(plan.epsilon, Randomness(seed)), []
        try:
            grow_tree(u.records(table), u.candidates, plan, u.schema, ledger, sizes.append)
        except TooFewRecordsError as error:
            sizes = [error.noisy_records]
            assert [spend.epsilon for spend in ledger.spends()] == [plan.size_epsilon]
            assert sizes[0] < 2
        else:
            assert sizes[0] >= 2
            assert ledger.total.epsilon > plan.size_epsilon


def test_a_stop_by_the_exact_number_of_records_is_seen(monkeypatch):
    u = Universe.of(2)
    plan = u.plan(8, 1, min_records=2, largest_count=512)
    monkeypatch.setattr(
        ClassGrowth,
        "has_enough_records",
        lambda growth, _: growth._records.class_totals().sum() >= 2,
    )
    found = exact_privacy_loss(u, plan, u.tables(1), counts=(0, 1, 512))
    assert found.loss == math.inf
    assert found.decision.step == "number of records"
