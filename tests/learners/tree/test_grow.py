"""The record-level learner: what it pays, what it may look at, and what trees it can draw."""

from collections import Counter
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privatree.counting import BinnedRecords, Candidates
from privatree.counting import _counts as counts
from privatree.errors import BudgetExceededError
from privatree.learners.tree import RecordPlan, _grow, _growth, grow_tree
from privatree.learners.tree._region import FeatureLayout, fine_grid, narrow_region, whole_region
from privatree.model import TreeBuilder
from privatree.privacy import Ledger, Randomness, Stage
from privatree.privacy.mechanisms import Draw, Geometric, SequentialExponential
from privatree.privacy.samplers import precision
from privatree.schema import Categorical, Numeric, Schema

seeds = st.integers(0, 2**32)

FEATURES = {
    "number": Numeric(0, 10),
    "whole": Numeric(0, 4, integer=True),
    "own cuts": Numeric(0, 1, cuts=[0.1, 0.2]),
    "fixed": Numeric(5, 5),
    "flag": Categorical([False, True]),
    "colour": Categorical(["red", "green", "blue"]),
    "only": Categorical(["x"]),
    "place": Categorical([f"p{k}" for k in range(9)]),
}


class World:
    """A schema, records as codes and a plan, all at random; labels follow the first feature."""

    def __init__(self, rng, **changes):
        names = rng.choice(list(FEATURES), rng.integers(1, 5), replace=False)
        n_classes = int(rng.integers(2, 6))
        self.schema = Schema({name: FEATURES[name] for name in names}, list(range(n_classes)))
        self.candidates = Candidates.from_schema(self.schema, int(rng.integers(2, 20)))
        n_records = int(rng.choice([0, 1, 3, 300]))
        self.codes = np.array(
            [rng.integers(0, size, n_records) for size in self.candidates.n_codes]
        ).T.astype(np.uint8, order="C")  # as the learner has them: no kernels for other layouts
        self.labels = (self.codes[:, 0] % n_classes).astype(np.uint8)
        noise = rng.random(n_records) < 0.3
        self.labels[noise] = rng.integers(0, n_classes, noise.sum())
        robust = rng.random() < 0.3
        self.plan = self.plan_of(
            epsilon=Fraction(float(10 ** rng.uniform(-3, 2))),
            max_depth=int(rng.integers(1, 6)),
            lookahead=rng.choice([None, None, 1, 2, 3]),
            robust_levels=int(rng.integers(1, 6)) if robust else None,
            dataset_size=rng.choice([None, None, 1, 10**5]),
            probability_share=Fraction(int(rng.choice([0, 0, 1, 3])), 4),
            **changes,
        )

    def plan_of(self, **parameters):
        codes = np.array(self.candidates.n_codes)
        return RecordPlan(
            n_classes=len(self.schema.classes),
            numeric_codes=tuple(codes[~self.candidates.is_category].tolist()),
            categorical_codes=tuple(codes[self.candidates.is_category].tolist()),
            **parameters,
        )

    def records(self):
        classes = len(self.schema.classes)
        return BinnedRecords(self.codes, self.candidates.n_codes, self.labels, classes)

    def grown(self, ledger):
        return grow_tree(self.records(), self.candidates, self.plan, self.schema, ledger)


def paths(tree):
    """The nodes from the root to every leaf."""
    found, open_paths = [], [[0]]
    while open_paths:
        path = open_paths.pop()
        node = path[-1]
        if tree.feature[node] < 0:
            found.append(path)
        else:
            open_paths += [[*path, int(tree.left[node])], [*path, int(tree.right[node])]]
    return found


def stages(path, spends):
    """What the records of a leaf paid, in time order."""
    return tuple(
        Stage("count" if spend.mechanism == "geometric" else "choice", spend.epsilon)
        for node in (None, *path)
        for spend in spends
        if spend.node == node
    )


# --- what is paid -------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=60)
@given(seeds)
def test_every_path_spends_epsilon_exactly_and_as_the_plan_can(seed):
    rng = np.random.default_rng(seed)
    world = World(rng)
    ledger = Ledger(world.plan.epsilon, Randomness(seed))
    tree = world.grown(ledger)
    spends = list(ledger.spends())
    assert ledger.total.epsilon == world.plan.epsilon
    assert ledger.remaining == 0
    assert tree.depth <= world.plan.max_depth
    assert {spend.mechanism for spend in spends} <= {"geometric", "exponential"}
    assert all(spend.times == 1 and spend.delta == 0 for spend in spends)
    assert {spend.node for spend in spends} <= {None, *range(tree.n_nodes)}
    listed = set(world.plan.sequences()) if world.plan.max_depth <= 4 else None
    for path in paths(tree):
        paid = stages(path, spends)
        assert sum(stage.epsilon for stage in paid) == world.plan.epsilon
        assert listed is None or paid in listed


@pytest.mark.slow
@settings(max_examples=100)
@given(seeds)
def test_every_split_separates_codes_that_the_splits_above_left(seed):
    """So every leaf can be reached, by the thresholds and categories of the schema."""
    world = World(np.random.default_rng(seed))
    tree = world.grown(Ledger(world.plan.epsilon, Randomness(seed)))
    places = [
        np.arange(len(feature.categories)) if isinstance(feature, Categorical) else None
        for feature in world.schema.features.values()
    ]

    def check(node, inside):
        feature = int(tree.feature[node])
        if feature < 0:
            return
        if places[feature] is None:
            cuts = world.candidates.cuts[feature]
            place = int(np.searchsorted(cuts, tree.threshold[node]))
            assert cuts[place] == tree.threshold[node]
            left = [code for code in inside[feature] if code <= place]
        else:
            left = list(tree.left_codes(node))
            assert set(left) <= set(inside[feature])
        right = [code for code in inside[feature] if code not in left]
        assert left
        assert right
        check(tree.left[node], {**inside, feature: left})
        check(tree.right[node], {**inside, feature: right})

    check(0, {j: list(range(size)) for j, size in enumerate(world.candidates.n_codes)})


@pytest.mark.parametrize("seed", range(12))
def test_nothing_is_drawn_beyond_the_budget(seed):
    world = World(np.random.default_rng(seed))
    with pytest.raises(BudgetExceededError):
        world.grown(Ledger(world.plan.epsilon * Fraction(999_999, 10**6), Randomness(0)))


@settings(max_examples=60)
@given(seeds)
def test_no_class_is_impossible_and_the_drawn_label_has_the_largest_probability(seed):
    world = World(np.random.default_rng(seed))
    tree = world.grown(Ledger(world.plan.epsilon, Randomness(seed)))
    assert (tree.noisy_counts is None) == (not world.plan.probability_share)
    for leaf in np.flatnonzero(tree.feature < 0):
        shares = tree.probability[leaf]
        assert shares.sum() == pytest.approx(1)
        assert shares.min() > 0
        assert shares[tree.label[leaf]] == shares.max()
        if tree.noisy_counts is not None:
            counts = np.maximum(tree.noisy_counts[leaf], 0) + 1
            counts[tree.label[leaf]] = counts.max()
            assert shares == pytest.approx(counts / counts.sum())
            assert tree.support_error[leaf] >= 0


def test_probabilities_without_noise_are_those_of_the_records():
    world = next(
        world
        for world in map(World, map(np.random.default_rng, range(99)))
        if len(world.labels) == 300 and len(world.schema.features) == 4
    )
    world.plan = world.plan_of(
        epsilon=Fraction(10**6), max_depth=4, probability_share=Fraction(1, 2)
    )
    tree = world.grown(Ledger(world.plan.epsilon, Randomness(0)))
    values = values_of(world.candidates, world.codes)
    leaves = np.array([leaf_of(tree, row) for row in values])
    assert len(set(leaves.tolist())) > 2
    for leaf in set(leaves.tolist()):
        counted = np.bincount(world.labels[leaves == leaf], minlength=len(world.schema.classes))
        assert counted[tree.label[leaf]] == counted.max()
        assert tree.probability[leaf] == pytest.approx((counted + 1) / (counted + 1).sum())


def values_of(candidates, codes):
    """Numbers and positions of categories that have these codes."""
    return np.column_stack(
        [
            codes[:, j] if cuts is None else np.append(cuts, 1e9)[codes[:, j]]
            for j, cuts in enumerate(candidates.cuts)
        ]
    ).astype(float)


def leaf_of(tree, row):
    node = 0
    while tree.feature[node] >= 0:
        value = row[tree.feature[node]]
        if np.isnan(tree.threshold[node]):
            goes_left = value in tree.left_codes(node)
        else:
            goes_left = value <= tree.threshold[node]
        node = int(tree.left[node] if goes_left else tree.right[node])
    return node


# --- the same from the same ---------------------------------------------------------------------


@pytest.mark.slow
def test_the_same_seed_gives_the_same_tree_in_threads_and_without(monkeypatch):
    trees = {}
    for few_records in (10**9, 1):
        monkeypatch.setattr(counts, "_FEW_RECORDS", few_records)
        for seed in range(25):
            world = World(np.random.default_rng(seed))
            tree = world.grown(Ledger(world.plan.epsilon, Randomness(seed)))
            assert trees.setdefault(seed, tree) == tree
    assert sum(tree.n_leaves > 2 for tree in trees.values()) > 5


def test_another_seed_gives_another_tree():
    world = World(np.random.default_rng(3), largest_count=1000)
    found = [world.grown(Ledger(world.plan.epsilon, Randomness(seed))) for seed in range(5)]
    assert any(tree != found[0] for tree in found)


# --- nothing but released values decides --------------------------------------------------------


class ScriptedDraw(Draw):
    """Chooses what the script says, whatever the weights of what is possible are."""

    def __init__(self, rng):
        super().__init__(Fraction(1), Randomness(0))
        self._rng = rng

    def draw(self, weights):
        self._use_one_choice()
        return int(self._rng.choice(np.flatnonzero(weights.exact_factors > 0)))

    def draw_by_score(self, exact_scores):
        self._use_one_choice()
        return int(self._rng.integers(len(exact_scores)))


class ScriptedLedger:
    """Pays for nothing and releases what the script says, whatever the records are.

    So a tree grown with it is a function of released values, the plan and *whatever else the
    learner looked at*: two tables that give different trees have been looked at.
    """

    def __init__(self, seed):
        self._rng = np.random.default_rng(seed)
        self.asked = []

    def release(self, mechanism, exact, *, purpose, node=None):
        self.asked.append((mechanism, purpose, node))
        assert isinstance(mechanism, Geometric)
        assert mechanism.sensitivity == 1
        return self._rng.integers(-5, 10 ** self._rng.integers(1, 7), np.shape(exact))

    def open_draw(self, mechanism, *, purpose, node=None):
        self.asked.append((mechanism, purpose, node))
        assert isinstance(mechanism, SequentialExponential)
        return ScriptedDraw(self._rng)

    def parallel(self, count):
        return (self,) * count


def other_tables(world):
    """The same schema and plan with other records: fewer, none, of one class, all alike."""
    yield world
    for chosen in (slice(0, 2), slice(0, 0)):
        other = World.__new__(World)
        vars(other).update(vars(world))
        other.codes, other.labels = world.codes[chosen], world.labels[chosen]
        yield other
    for codes, labels in (
        (world.codes, np.ones_like(world.labels)),
        (np.zeros_like(world.codes), world.labels),
    ):
        other = World.__new__(World)
        vars(other).update(vars(world))
        other.codes, other.labels = codes, labels
        yield other


def looks_at_exact_values(n_worlds=40):
    """Whether some table gives another tree, or pays otherwise, when the same is released."""
    for seed in range(n_worlds):
        world, first = World(np.random.default_rng(seed)), None
        for other in other_tables(world):
            ledger = ScriptedLedger(seed)
            result = other.grown(ledger), ledger.asked
            first = result if first is None else first
            if result != first:
                return True
    return False


@pytest.mark.slow
def test_the_tree_and_its_spends_depend_on_released_values_only():
    assert not looks_at_exact_values()
    worlds = [World(np.random.default_rng(seed)) for seed in range(40)]
    sizes = [world.grown(ScriptedLedger(seed)).n_leaves for seed, world in enumerate(worlds)]
    assert len(set(sizes)) > 5, "otherwise the comparison compares nothing"


def label_where_empty(real):
    def mutant(self, node):
        if isinstance(node, _growth.OpenNode) and not node.exact_totals.sum():
            return self._begin_subtree(node, self._plan.label(node.at))
        return real(self, node)

    return mutant


def planned_by_exact_totals(real):
    def mutant(self, node):
        if isinstance(node, _growth.OpenNode):
            node = replace(node, at=replace(node.at, noisy_size=1 + int(node.exact_totals.sum())))
        return real(self, node)

    return mutant


@pytest.mark.parametrize(
    ("method", "mutant"),
    [("decide_stage", label_where_empty), ("decide_stage", planned_by_exact_totals)],
)
def test_mutants_that_look_are_caught(monkeypatch, method, mutant):
    real = getattr(_grow.ClassGrowth, method)
    monkeypatch.setattr(_grow.ClassGrowth, method, mutant(real))
    assert looks_at_exact_values()


# --- mechanisms get what they should ------------------------------------------------------------


def test_counts_are_of_disjoint_records_and_choices_have_the_range_of_their_score():
    """Of every node that is counted, the classes; the ranges are those of the released counts."""
    asked, draws = [], []

    class Recording(Ledger):
        def release(self, mechanism, exact, *, purpose, node=None, times=1):
            asked.append((mechanism, exact, purpose, node))
            return super().release(mechanism, exact, purpose=purpose, node=node, times=times)

        def open_draw(self, mechanism, *, purpose, node=None):
            asked.append((mechanism, None, purpose, node))
            draws.append(super().open_draw(mechanism, purpose=purpose, node=node))
            return draws[-1]

        def parallel(self, count):
            parts = super().parallel(count)
            for part in parts:
                part.__class__ = Recording
            return parts

    n_splits = 0
    for seed in range(60):
        world = World(np.random.default_rng(seed))
        asked.clear()
        tree = world.grown(Recording(world.plan.epsilon, Randomness(seed)))
        assert all(draw.is_closed for draw in draws)
        of_leaves = 0
        for mechanism, exact, purpose, node in asked:
            if purpose == "number of records":
                assert exact.tolist() == [len(world.labels)]
            elif isinstance(mechanism, Geometric):
                assert exact.shape == (len(world.schema.classes),)
                if purpose == "class counts of a leaf":
                    of_leaves += exact.sum()
                elif node == 0:
                    np.testing.assert_array_equal(
                        exact, np.bincount(world.labels, minlength=len(exact))
                    )
            elif purpose == "split":
                assert 64 <= mechanism.score_range <= 124
                n_splits += 1
            else:
                assert purpose.startswith("last")
                assert mechanism.score_range == 1
        if world.plan.probability_share:
            assert of_leaves == len(world.labels), "every record is in one leaf"
        assert tree.n_leaves
    assert n_splits > 20


@pytest.mark.parametrize("n_bins", [16, 64, 256])
@pytest.mark.parametrize("n_classes", [2, 9])
def test_the_grids_of_a_subtree_are_nested(n_bins, n_classes):
    """A cut on an upper level must not go through a row of the tables of the next."""
    schema = Schema({f"x{j}": Numeric(0, 1) for j in range(6)}, list(range(n_classes)))
    candidates = Candidates.from_schema(schema, n_bins)
    codes = np.zeros((0, 6), dtype=np.uint8)
    records = BinnedRecords(codes, candidates.n_codes, np.zeros(0, dtype=np.uint8), n_classes)
    plan = RecordPlan(
        epsilon=Fraction(1),
        n_classes=n_classes,
        numeric_codes=candidates.n_codes,
        categorical_codes=(),
        max_depth=3,
        dataset_size=10**5,
        lookahead=3,
    )
    growth = _grow.ClassGrowth(records, candidates, plan, TreeBuilder(schema))
    node = growth.begin(Ledger(plan.epsilon, Randomness(0)), noisy_size=None)
    stage = plan.stage(node.at)
    assert len(stage.grids) == 2
    rng = np.random.default_rng(n_bins)
    for j in range(6):  # as after some splits
        first, last = np.sort(rng.choice(candidates.n_codes[j], 2, replace=False))
        node = replace(
            node, region=narrow_region(node.region, growth._layout, j, np.arange(first, last + 1))
        )
    grids = growth.decide_stage(node).subtree.grids
    assert len(grids) == 3
    for coarse, finer, n_codes in zip(grids, grids[1:], stage.grids, strict=False):
        assert (finer.base_measure[coarse.base_measure > 0] > 0).all()
        for j in range(6):
            mine = slice(*candidates.offsets[j : j + 2])
            assert 1 <= np.count_nonzero(coarse.base_measure[mine]) <= n_codes - 1
    np.testing.assert_array_equal(grids[-1].base_measure, candidates.base_measure)


# --- the law of a subtree, drawn from the top down ------------------------------------------------


class OneSubtree:
    """Hands out the same draw for the one subtree that there is."""

    def __init__(self, draw):
        self._draw = draw

    def open_draw(self, mechanism, *, purpose, node=None):
        assert isinstance(mechanism, SequentialExponential)
        assert node == 0
        return self._draw

    def parallel(self, count):
        return (self,) * count


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_levels", "features"),
    [
        (1, ["number", "colour"]),
        (2, ["number"]),
        (2, ["number", "flag"]),
        (2, ["flag", "colour"]),
        (3, ["number"]),
        (3, ["colour"]),
        (3, ["flag", "other"]),
    ],
)
def test_a_subtree_has_the_law_of_all_its_trees(
    n_levels, features, every_way, random_subtree, by_enumeration
):
    """Every way to draw it, by the number of records that the tree gets right."""
    rng = np.random.default_rng(n_levels)
    kinds = {"number": Numeric(0, 3, integer=True), "colour": FEATURES["colour"]}
    schema = Schema({name: kinds.get(name, FEATURES["flag"]) for name in features}, ["no", "yes"])
    candidates = Candidates.from_schema(schema, 256)
    plan = RecordPlan(
        epsilon=Fraction(3, 4),
        n_classes=2,
        numeric_codes=candidates.n_codes,
        categorical_codes=(),
        max_depth=n_levels,
        dataset_size=10**5,
    )
    codes = np.array([rng.integers(0, size, 9) for size in candidates.n_codes]).T
    codes = codes.astype(np.uint8, order="C")
    labels = rng.integers(0, 2, 9).astype(np.uint8)
    small = replace(
        random_subtree(rng, 2, 1),
        candidates=candidates,
        shape=FeatureLayout(candidates.offsets, candidates.is_category),
        region=whole_region(candidates),
        grids=tuple(
            fine_grid(candidates)._replace(stop_share=stop_share)
            for stop_share in plan.stage(plan.root(10**5)).stop_shares
        ),
        rate=plan.epsilon,
        codes=codes,
        labels=labels,
    )
    values = values_of(candidates, codes)

    def draw(one_way):
        records = BinnedRecords(codes, candidates.n_codes, labels, 2)
        tree = grow_tree(records, candidates, plan, schema, OneSubtree(one_way))
        predicted = [int(tree.label[leaf_of(tree, row)]) for row in values]
        return sum(p == y for p, y in zip(predicted, labels.tolist(), strict=True))

    with localcontext(precision(40)):
        found, expected = Counter(), Counter()
        for score, chance in every_way(plan.epsilon, draw):
            found[score] += chance
        for part in by_enumeration(small).values():
            for score, mass in part.items():
                power = (Decimal(3) / 4 * score).exp()
                expected[score] += Decimal(mass.numerator) / mass.denominator * power
        whole = sum(expected.values())
        assert found.keys() == expected.keys()
        assert abs(sum(found.values()) - 1) < Decimal("1e-25")
        for score, weight in expected.items():
            assert abs(found[score] - weight / whole) <= Decimal("1e-20") * weight / whole
