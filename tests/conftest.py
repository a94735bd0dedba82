"""How hypothesis runs, and the trees, regions and subtrees that several tests share, as fixtures.

They last for the session because hypothesis asks it of fixtures; what they give is never changed.
"""

from __future__ import annotations

import gc
import math
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import permutations, product
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
import typer.main
from hypothesis import HealthCheck, settings
from numpy.typing import NDArray

from privatree._support.kernels import compile_notice
from privatree.counting import BinnedRecords, Candidates
from privatree.learners.tree import Region
from privatree.learners.tree._region import (
    CutGrid,
    FeatureLayout,
    coarse_grid,
    codes_in_region,
    fine_grid,
    narrow_region,
    whole_region,
)
from privatree.learners.tree._subtree import Subtree
from privatree.model import NodeDraft, Tree, TreeBuilder, assemble_tree, tree_nodes
from privatree.model.tree import tree_from_dict, tree_to_dict
from privatree.privacy import Randomness
from privatree.privacy.mechanisms import Draw, LogWeights
from privatree.privacy.samplers import decay_table
from privatree.schema import Categorical, Numeric, Schema, Target

# The same examples every time, however slow the machine: a failure can be had again.
settings.register_profile(
    "privatree",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("privatree")


def pytest_runtest_teardown() -> None:
    """Close the figures of a test: others count those that are open."""
    if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
        pyplot.close("all")


_Result = TypeVar("_Result")

gc.disable()  # while tests are collected: nearly all that is made then stays, yet is gone through


def pytest_collection_finish() -> None:
    """Let garbage be collected again, before the first test runs."""
    gc.enable()


# What is there trains or draws many times over, or starts whole programs.
_SLOW_FOLDERS = (
    *("audit", "baselines", "golden", "mutants"),
    *("repetition", "reproduction", "robustness", "statistical"),
)
_SLOW_FIXTURES = {"browser", "databases", "spark"}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even read the slow folders where only other tests are asked for."""
    here = Path(__file__).parent
    fast_only = config.getoption("markexpr") == "not slow"
    slow = collection_path.parent == here and collection_path.name in _SLOW_FOLDERS
    return True if fast_only and slow else None


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark slow tests, and put those on a Spark cluster first.

    Work is stolen from the end, so one process runs them all.
    """
    here = Path(__file__).parent
    for item in items:
        folder = item.path.relative_to(here).parts[0]
        if folder in _SLOW_FOLDERS or _SLOW_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker("slow")
    items.sort(key=lambda item: "spark" not in getattr(item, "fixturenames", ()))


@pytest.fixture(scope="session", autouse=True)
def _compiling_is_not_said() -> Iterator[None]:
    """As if it had been said before: what a test finds on stderr must not depend on the cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compile_notice, "_said", True)
        yield


@pytest.fixture(scope="session", autouse=True)
def _commands_are_built_once() -> Iterator[None]:
    """In a process that runs many: to read all their options takes longer than most of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", cache(typer.main.get_command))
        yield


def _takes_at_most(seconds: float, action: Callable[[], _Result]) -> _Result:
    for _ in range(3):
        begin = time.process_time()
        result = action()
        if time.process_time() - begin < seconds:
            return result
    pytest.fail(f"it took more than {seconds:g} s of the processor, three times")


@pytest.fixture(scope="session")
def takes_at_most() -> Callable[[float, Callable[[], Any]], Any]:
    """Runs an action, and fails if it takes too many seconds of the processor.

    These are the action's own, but on a busy machine there are more of them: it has three goes.
    """
    return _takes_at_most


_SCHEMA = Schema(
    features={
        "age": Numeric(17, 90, integer=True),
        "work": Categorical(["private", "state", "none"], missing="none"),
        "gain": Numeric(0.0, 1.0, missing=0.75),
        "flag": Categorical([False, True]),
    },
    classes=["low", "high"],
)


def _small_tree(probability: bool = False, noisy_counts: bool = False) -> Tree:
    """age <= 37 ? (work in {state, none} ? low : high) : (gain <= 0.5 ? low : high)."""
    builder = TreeBuilder(_SCHEMA)
    young, old = builder.split_numeric(builder.root, 0, 37.0)
    first, second = builder.split_categories(young, 1, [1, 2])
    third, fourth = builder.split_numeric(old, 2, 0.5)
    for node, label in ((first, 0), (second, 1), (third, 0), (fourth, 1)):
        shares = [0.75 - label / 2, 0.25 + label / 2] if probability else None
        counts = [300 - 200 * label, 100 + 200 * label] if noisy_counts else None
        builder.leaf(node, label, shares, counts, support_error=9 if noisy_counts else 0)
    return builder.build()


def _random_feature(rng: random.Random) -> Numeric | Categorical:
    if rng.random() < 0.4:
        categories: list[Any] = rng.choice(
            [["a", "b", "c", "d"], [3, 1, 2.5], [True, False], ["only"], ["", "ü\n", "x"]]
        )
        return Categorical(categories, missing=rng.choice([None, categories[-1], "separate"]))
    low, high = rng.choice([(0, 1), (-5.5, 7.25), (0, 100), (-1e9, 1e-3)])
    whole = isinstance(low, int) and rng.random() < 0.5
    missing = rng.choice([None, low, high, (low + high) / 2, "separate"])
    return Numeric(low, high, integer=whole, missing=missing)


def _random_tree(rng: random.Random) -> Tree:
    features = {f"f{j}": _random_feature(rng) for j in range(rng.randint(1, 4))}
    classes: list[Any] = rng.choice([["no", "yes"], [0, 1, 2], [True, False], [0.5, 1.5]])
    schema = Schema(features, classes)
    builder = TreeBuilder(schema)
    with_probability, with_counts = rng.random() < 0.5, rng.random() < 0.5
    open_nodes, n_splits = [builder.root], rng.randint(0, 12)
    while open_nodes:
        node = open_nodes.pop(rng.randrange(len(open_nodes)))
        if n_splits == 0:
            shares = np.array([rng.random() + 1e-3 for _ in classes])
            row = (shares / shares.sum()).tolist() if with_probability else None
            counts = [rng.randint(-20, 2000) for _ in classes] if with_counts else None
            error = rng.randint(0, 90) if with_counts else 0
            builder.leaf(node, rng.randrange(len(classes)), row, counts, error)
            continue
        n_splits -= 1
        position = rng.randrange(len(features))
        feature = list(features.values())[position]
        if isinstance(feature, Categorical):
            codes = [c for c in range(feature.n_codes) if rng.random() < 0.5]
            open_nodes += builder.split_categories(node, position, codes)
        elif feature.separates_missing and rng.random() < 0.4:
            open_nodes += builder.split_numeric(node, position, -math.inf)
        else:
            threshold = feature.low + rng.choice([0.0, 0.5, rng.random()]) * (
                feature.high - feature.low
            )
            threshold = min(threshold, float(np.nextafter(feature.high, -math.inf)))
            open_nodes += builder.split_numeric(node, position, threshold)
    return _renumbered(builder.build(), rng)


def _renumbered(tree: Tree, rng: random.Random) -> Tree:
    """The same tree with other ids: siblings need not be neighbours."""
    order, frontier = list[int](), [0]
    while frontier:
        node = frontier.pop(rng.randrange(len(frontier)))
        order.append(node)
        if tree.feature[node] >= 0:
            frontier += [int(tree.left[node]), int(tree.right[node])]
    nodes = tree_to_dict(tree)["nodes"]
    place = {old: new for new, old in enumerate(order)}
    moved = [dict(nodes[old]) for old in order]
    for entry in moved:
        if "feature" in entry:
            entry["left"], entry["right"] = place[entry["left"]], place[entry["right"]]
    return tree_from_dict({"nodes": moved}, tree.schema)


def _number_tree(tree: Tree, rng: random.Random, target: Target | None = None) -> Tree:
    """The same tree with random numbers in its leaves; with or without counts and shares."""
    chosen = target or rng.choice(_TARGETS)
    low, high = float(chosen.low), float(chosen.high)
    edges = None
    if rng.random() < 0.6:
        edges = sorted({low, high, *(low + rng.random() * (high - low) for _ in range(3))})
    with_counts = rng.random() < 0.6
    drafts = []
    for draft in tree_nodes(tree):
        if draft.feature < 0:
            value = rng.choice([low, high, low + rng.random() * (high - low)])
            draft = NodeDraft(value=min(max(value, low), high))
            if with_counts:
                counts = [rng.randint(-20, 2000)]
                draft = draft._replace(noisy_counts=counts, support_error=rng.randint(0, 90))
            if edges is not None:
                shares = [rng.random() + 1e-3 for _ in edges[1:]]
                draft = draft._replace(shares=[share / sum(shares) for share in shares])
        drafts.append(draft)
    return assemble_tree(Schema(tree.schema.features, target=chosen), drafts, edges)


_TARGETS = [
    *(Target(0, 100), Target(-5.5, 1e6, name="cost"), Target(0, 30, integer=True)),
    *(Target(0, 1e9, log=True), Target(-1e100, 1e100), Target(0, 1e-100), Target(-3, -1)),
]


def _random_value(rng: random.Random, feature: Numeric | Categorical, tree: Tree) -> float:
    if isinstance(feature, Categorical):
        return float(rng.choice([*range(feature.n_codes)] * 5 + [-1, 99, math.nan]))
    thresholds = [float(t) for t in tree.threshold if not math.isnan(t)]
    near = thresholds + [float(np.nextafter(t, math.inf)) for t in thresholds]
    return rng.choice(
        [math.nan, math.inf, -math.inf, float(feature.low), float(feature.high),
         float(feature.low) - 1, float(feature.high) + 1,
         rng.uniform(float(feature.low), float(feature.high)), *near]
    )  # fmt: skip


@pytest.fixture(scope="session")
def small_schema() -> Schema:
    """Two numbers and two lists of categories; the schema of `small_tree`."""
    return _SCHEMA


@pytest.fixture(scope="session")
def small_tree() -> Callable[..., Tree]:
    """Makes a tree of seven nodes, with ``probability=True`` one that has class probabilities."""
    return _small_tree


@pytest.fixture(scope="session")
def random_tree() -> Callable[[random.Random], Tree]:
    """Draws a tree of up to 12 splits, of a schema of its own, siblings in any place."""
    return _random_tree


@pytest.fixture(scope="session")
def number_tree() -> Callable[..., Tree]:
    """Makes a tree that predicts a number of a tree that predicts classes."""
    return _number_tree


@pytest.fixture(scope="session")
def random_value() -> Callable[[random.Random, Numeric | Categorical, Tree], float]:
    """Draws a value of a feature: often missing, odd or at a threshold of the tree."""
    return _random_value


# --- regions and subtrees -------------------------------------------------------------------------


def _make_candidates(
    n_codes: list[int], is_category: list[bool], rng: np.random.Generator
) -> Candidates:
    base_measure = []
    for size, category in zip(n_codes, is_category, strict=True):
        some = rng.integers(1, 2**20, size) * (not category)
        some[-1] = 0
        base_measure.append(some)
    kinds = list(zip(n_codes, is_category, strict=True))
    return Candidates(
        cuts=tuple(None if category else np.arange(size - 1.0) for size, category in kinds),
        n_codes=tuple(n_codes),
        base_measure=np.concatenate(base_measure),
        offsets=np.cumsum([0, *n_codes]),
        is_category=np.array(is_category),
        groups=tuple(np.arange(size) if category else None for size, category in kinds),
    )


def _random_part(
    rng: np.random.Generator, region: Region, shape: FeatureLayout, feature: int
) -> NDArray[np.int64]:
    codes = codes_in_region(region, shape, feature)
    if shape.is_category[feature]:
        kept = codes[rng.random(len(codes)) < 0.6]
        return kept if len(kept) else codes[:1]
    first, last = np.sort(rng.integers(0, len(codes), 2))
    return codes[first : last + 1]


def _random_region(
    rng: np.random.Generator, largest: int = 9, n_features: int = 4, most_times: int = 3
) -> tuple[Candidates, FeatureLayout, Region]:
    n_codes = rng.integers(1, largest + 1, rng.integers(1, n_features + 1)).tolist()
    candidates = _make_candidates(n_codes, (rng.random(len(n_codes)) < 0.5).tolist(), rng)
    shape, region = (
        FeatureLayout(candidates.offsets, candidates.is_category),
        whole_region(candidates),
    )
    for _ in range(rng.integers(0, most_times + 1)):
        region = _narrower(rng, region, shape)
    return candidates, shape, region


def _narrower(rng: np.random.Generator, region: Region, shape: FeatureLayout) -> Region:
    feature = int(rng.integers(len(region.low)))
    return narrow_region(region, shape, feature, _random_part(rng, region, shape, feature))


@dataclass(frozen=True)
class _SmallSubtree:
    """A subtree to be drawn at a node of few records."""

    candidates: Candidates
    shape: FeatureLayout
    region: Region
    grids: tuple[CutGrid, ...]
    rate: Fraction
    n_classes: int
    codes: NDArray[np.uint8]
    labels: NDArray[np.uint8]

    @property
    def records(self) -> BinnedRecords:
        return BinnedRecords(self.codes, self.candidates.n_codes, self.labels, self.n_classes)

    @property
    def exact_counts(self) -> NDArray[np.int64]:
        return self.records.class_counts()[0]

    @property
    def subtree(self) -> Subtree:
        decays = decay_table(self.rate, len(self.labels))
        return Subtree(self.rate, decays, self.grids, self.region).without_empty_levels(self.shape)


_RATES = (Fraction(1, 10**6), Fraction(1, 100), Fraction(1, 3), Fraction(2), Fraction(50))


def _random_subtree(rng: np.random.Generator, n_classes: int, n_levels: int) -> _SmallSubtree:
    candidates, shape, region = _random_region(rng, {1: 7, 2: 6, 3: 5}[n_levels], 3, 1)
    grids = [fine_grid(candidates)]
    for most in (5, 4)[: n_levels - 1]:
        grids.insert(0, coarse_grid(grids[0], region, shape, int(rng.integers(2, most + 1))))
    grids = [grid._replace(stop_share=rng.choice([0.05, 0.1, 0.6, 0.98])) for grid in grids]
    for _ in range(rng.integers(0, 3)):  # as if levels above had been drawn: grids may run out
        region = _narrower(rng, region, shape)
    n_records = int(rng.integers(0, 31))
    codes = np.empty((n_records, len(candidates.n_codes)), dtype=np.uint8)
    for feature in range(codes.shape[1]):
        codes[:, feature] = rng.choice(codes_in_region(region, shape, feature), n_records)
    labels = rng.integers(0, n_classes, n_records).astype(np.uint8)
    labels[rng.random(n_records) < rng.random()] = 1  # now and then nearly all are alike
    rate = _RATES[rng.integers(len(_RATES))]
    return _SmallSubtree(candidates, shape, region, tuple(grids), rate, n_classes, codes, labels)


_Scores = Counter[int]
"""Of each score, the prior mass of all trees that have it."""


class _Enumeration:
    """Every tree of a subtree, by the formulas of the design: its prior mass and its score.

    Regions are lists of codes here, records are rows that go left or right one by one, the base
    measure is fractions. Trees of the same score are added up at once.
    """

    def __init__(self, small: _SmallSubtree) -> None:
        self._offsets = small.shape.offsets.tolist()
        self._is_category = small.shape.is_category.tolist()
        self._masses = [[int(mass) for mass in grid.base_measure] for grid in small.grids]
        self._stops = [Fraction(grid.stop_share) for grid in small.grids]
        self._classes = range(small.n_classes)
        self.rows = list(zip(small.codes.tolist(), small.labels.tolist(), strict=True))
        self.region = [
            codes_in_region(small.region, small.shape, feature).tolist()
            for feature in range(len(self._is_category))
        ]

    def parts(self, rows: list[Any], region: list[list[int]], level: int = 0) -> dict[int, _Scores]:
        """What the trees of the levels from this one on begin with, to their scores."""
        n_levels = len(self._masses) - level
        if n_levels == 1:
            return self._last_level(rows, region)
        splits = list(self._splits(region, level))
        if not splits:
            return self.parts(rows, region, level + 1)
        found = {self._offsets[-1]: _scaled(self._stops[level], self._all(rows, region, level + 1))}
        for part, feature, left, right, share in splits:
            sides = []
            for codes in (left, right):
                chosen = [row for row in rows if row[0][feature] in codes]
                sides.append(self._all(chosen, [*region[:feature], codes, *region[feature + 1 :]],
                                       level + 1))  # fmt: skip
            found[part] = _scaled((1 - self._stops[level]) * share, _product(*sides))
        return found

    def _all(self, rows: list[Any], region: list[list[int]], level: int) -> _Scores:
        return sum(self.parts(rows, region, level).values(), start=Counter())

    def _splits(self, region: list[list[int]], level: int) -> Iterator[tuple[Any, ...]]:
        """Part, feature, codes on the left and on the right, share."""
        options = {}
        for feature, codes in enumerate(region):
            if self._is_category[feature]:
                single = codes if len(codes) > 2 else codes[:1] if len(codes) == 2 else []
                options[feature] = [(code, [code], 1) for code in single]
            else:
                base_measure = [
                    (c, self._masses[level][self._offsets[feature] + c]) for c in codes[:-1]
                ]
                options[feature] = [
                    (c, [d for d in codes if d <= c], m) for c, m in base_measure if m
                ]
        n_active = sum(map(bool, options.values()))
        for feature, found in options.items():
            whole = sum(mass for *_, mass in found)
            for code, left, mass in found:
                right = [other for other in region[feature] if other not in left]
                share = Fraction(mass, whole * n_active)
                yield self._offsets[feature] + code, feature, left, right, share

    def _last_level(self, rows: list[Any], region: list[list[int]]) -> dict[int, _Scores]:
        active = [feature for feature, codes in enumerate(region) if len(codes) >= 2]
        stop = self._stops[-1] if active else Fraction(1)
        found: dict[int, _Scores] = {self._offsets[-1]: Counter()}
        for label in self._classes:
            score = sum(row[1] == label for row in rows)
            found[self._offsets[-1]][score] += stop / len(self._classes)
        pairs = list(permutations(self._classes, 2))
        for feature in active:
            start, codes = self._offsets[feature], region[feature]
            if self._is_category[feature]:
                subsets = [
                    (start, {code for code, is_in in zip(codes, chosen, strict=True) if is_in}, 1)
                    for chosen in product((False, True), repeat=len(codes))
                ]
            else:
                subsets = [
                    (start + cut, {code for code in codes if code <= cut},
                     self._masses[-1][start + cut])
                    for cut in codes[:-1]
                ]  # fmt: skip
            whole = sum(mass for *_, mass in subsets)
            for part, left, mass in subsets:
                share = (1 - stop) / len(active) * Fraction(mass, whole) / len(pairs)
                scores = found.setdefault(part, Counter())
                for a, b in pairs:
                    scores[sum(y == (a if x[feature] in left else b) for x, y in rows)] += share
        return found


def _scaled(factor: Fraction, scores: _Scores) -> _Scores:
    return Counter({score: factor * mass for score, mass in scores.items()})


def _product(left: _Scores, right: _Scores) -> _Scores:
    found: _Scores = Counter()
    for (one, mass), (other, other_mass) in product(left.items(), right.items()):
        found[one + other] += mass * other_mass
    return found


def _by_enumeration(small: _SmallSubtree) -> dict[int, _Scores]:
    listed = _Enumeration(small)
    return listed.parts(listed.rows, listed.region)


# --- draws --------------------------------------------------------------------------------------

_DIGITS = 40


class _OneWay(Draw):
    """Takes a given way through a series of choices, then always the first; says how likely."""

    def __init__(self, rate: Fraction, way: tuple[int, ...], known: dict[Any, list[Decimal]]):
        super().__init__(rate, Randomness(0))
        self._way, self._known = way, known
        self.chance, self.taken, self.others = Decimal(1), (), list[tuple[int, ...]]()

    def draw(self, weights: LogWeights) -> int:
        return self._take(lambda: weights.precise(_DIGITS)[0])

    def draw_by_score(self, exact_scores: NDArray[np.int64]) -> int:
        scores = [self._rate * int(score) for score in exact_scores]
        return self._take(lambda: [(Decimal(s.numerator) / s.denominator).exp() for s in scores])

    def _take(self, compute: Callable[[], Any]) -> int:
        self._use_one_choice()
        if self.taken not in self._known:
            self._known[self.taken] = compute()
        weights = self._known[self.taken]
        possible = [index for index, weight in enumerate(weights) if weight]
        if len(self.taken) < len(self._way):
            chosen = self._way[len(self.taken)]
        else:
            chosen, *others = possible
            self.others += [(*self.taken, other) for other in others]
        self.chance *= weights[chosen] / sum(weights)
        self.taken = (*self.taken, chosen)
        return chosen


def _every_way(rate: Fraction, draw: Callable[[Draw], Any]) -> Iterator[tuple[Any, Decimal]]:
    ways, known = [()], dict[Any, list[Decimal]]()
    while ways:
        one_way = _OneWay(rate, ways.pop(), known)
        yield draw(one_way), one_way.chance
        assert one_way.is_closed, "a choice was expected and not made"
        ways += one_way.others


class _Layered(Randomness):
    """First words and further bits from two streams, so that refining shifts no later word."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._further = Randomness(seed + 10**6)

    def bits(self, count: int) -> int:
        return super().bits(count) if count == 64 else self._further.bits(count)


@pytest.fixture(scope="session")
def every_way() -> Callable[..., Iterator[tuple[Any, Decimal]]]:
    """A rate and a function of a `Draw` to its result, and its chance, for every way to choose.

    To be used in a decimal context of 40 digits.
    """
    return _every_way


@pytest.fixture(scope="session")
def layered() -> Callable[[int], Randomness]:
    """Randomness that gives the same draws in floats and in decimals, if both are right."""
    return _Layered


@pytest.fixture(scope="session")
def make_candidates() -> Callable[..., Candidates]:
    """Numbers of codes, kinds and a generator to candidates with random base_measure."""
    return _make_candidates


@pytest.fixture(scope="session")
def random_part() -> Callable[..., NDArray[np.int64]]:
    """Draws some of the codes that a feature has in a region, as splits could leave them."""
    return _random_part


@pytest.fixture(scope="session")
def random_region() -> Callable[..., tuple[Candidates, FeatureLayout, Region]]:
    """Draws candidates, their shape and a region that is narrowed at random."""
    return _random_region


@pytest.fixture(scope="session")
def random_subtree() -> Callable[[np.random.Generator, int, int], _SmallSubtree]:
    """Draws a subtree, given the number of classes and of levels, and the few records it is for."""
    return _random_subtree


@pytest.fixture(scope="session")
def by_enumeration() -> Callable[[_SmallSubtree], dict[int, _Scores]]:
    """Of every part of a subtree, by the score, the prior mass of all trees that begin with it."""
    return _by_enumeration


# --- tasks of reproduce -------------------------------------------------------------------------


def _run_here(
    tasks: Sequence[Any], journal: Any, progress: Any, *, jobs: int, time_limit: float
) -> None:
    waiting = [task for task in tasks if task not in journal]
    total = sum(task.weight for task in tasks)
    progress.start(total, total - sum(task.weight for task in waiting))
    for task in waiting:
        task.prepare()
        journal.record_score(task, task.run())
        progress.advance(task.weight, " ".join(task.key[:2]))
    journal.sort(tasks)


@pytest.fixture(scope="session")
def run_here() -> Callable[..., None]:
    """In the place of `run_tasks`: run every task in this process, where it must not fail.

    A process that imports everything takes longer than the tasks of a test. What is about
    processes has them: tests of the runner, of the targets accuracy and runtime, of killed runs.
    """
    return _run_here
