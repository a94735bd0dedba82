"""Wrong versions of the learner, each a small change of the real code, and which net catches it.

- *Loss*: exact enumeration, the whole learner or a stage by itself loses more than its epsilon.
- *Decision*: exact enumeration, something is decided by records: the loss is infinite.
- *Ledger*: the account refuses, or does not cover the loss.
- *Chi-square*: noise shared by siblings, in ``tests/statistical/test_record_tree.py``: the law of
  single steps does not see it.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from privatree import block_precisely, record_tree
from privatree.audit import exact_privacy_loss
from privatree.boxes import codes_inside, feature_of
from privatree.errors import BudgetExceededError
from privatree.privacy import ledger as accounts
from privatree.privacy.mechanisms import ExponentialByParts, Geometric
from privatree.privacy.randomness import Randomness
from privatree.record_plan import Position, RecordPlan
from privatree.record_tree import Growth, OpenNode, grow
from privatree.upper_split import UpperSplit

EPSILON = 8
COUNT, SPLIT, LAST = "class counts before a split", "split", "last level with labels"


@pytest.fixture
def audit(universe, piles):
    """The largest loss at tables with piles, and the stages."""

    def run(*sizes, depth=3, counts=(0, 1, 512), **settings):
        u = universe(*sizes)
        settings = {"lookahead": 1, "dataset_size": 512} | settings
        plan = u.plan(EPSILON, depth, largest_count=counts[-1], **settings)
        return exact_privacy_loss(u, plan, [piles(u)], counts=counts)

    return run


@pytest.mark.parametrize(("depth", "lookahead"), [(3, 1), (2, 2), (3, 3)])
def test_without_a_mutant_nothing_is_caught(audit, depth, lookahead):
    found = audit(3, 2, depth=depth, lookahead=lookahead)
    assert found.loss <= EPSILON + 1e-9
    assert max(found.stages.values()) <= 1 + 1e-9
    assert found.loss <= found.recorded + 1e-9


# --- loss -----------------------------------------------------------------------------------------


def test_exponent_doubled(audit, monkeypatch):
    real = ExponentialByParts.rate
    monkeypatch.setattr(ExponentialByParts, "rate", property(lambda m: 2 * real.fget(m)))
    found = audit(3, 2)
    assert found.loss > 1.9 * EPSILON
    assert found.stages[SPLIT, 0] > 1.9
    assert found.stages[LAST, 2] > 1.9


def test_count_noise_halved(audit, monkeypatch):
    """End to end it can hide in what other stages leave unused: by itself it cannot."""
    real = Geometric.rate
    monkeypatch.setattr(Geometric, "rate", property(lambda m: 2 * real.fget(m)))
    assert audit(3, 2).stages[COUNT, 0] > 1.99


def test_full_budget_at_every_level(audit, universe, piles, monkeypatch):
    """The ledger refuses; would it not, the loss would show."""

    def child(plan, at):
        return Position(at.before_counting, max(1, at.noisy_size // 2), at.depth + 1)

    monkeypatch.setattr(RecordPlan, "child", child)
    u = universe(3, 2)
    plan = u.plan(EPSILON, 3, lookahead=1, dataset_size=512)
    account = accounts.Ledger(plan.epsilon, Randomness(0))
    with pytest.raises(BudgetExceededError):
        grow(u.records(piles(u)), u.candidates, plan, u.schema, account)
    found = audit(3, 2)
    assert found.recorded > EPSILON
    assert found.loss > 1.3 * EPSILON


def test_stop_prior_mismatched(audit, monkeypatch):
    """Of a last level below others, as if it were 1/(features + 1); not so in their weights."""
    real = record_tree.block_weights

    def mutant(records, blocks, exact_counts, shape):
        found = real(records, blocks, exact_counts, shape)
        for node, weights in found.items():
            n_active = int((blocks[node].box.n_inside >= 2).sum())
            if blocks[node].levels == 1 and n_active:
                factors = weights.exact_factors * (1 - 1 / (n_active + 1)) / 0.95
                factors[-1] = weights.exact_factors[-1] / (n_active + 1) / 0.05
                found[node] = weights._replace(exact_factors=factors)
        return found

    monkeypatch.setattr(record_tree, "block_weights", mutant)
    assert audit(3, 2, depth=1).loss <= EPSILON + 1e-9  # by itself it is a prior like any other
    assert audit(3, 2, depth=2, lookahead=2).loss > 1.1 * EPSILON


def test_candidates_restricted_to_the_box_in_the_draw_but_not_in_the_weights(universe, monkeypatch):
    real = record_tree.block_weights

    def mutant(records, blocks, exact_counts, shape):
        found = real(records, blocks, exact_counts, shape)
        for node, weights in found.items():
            if blocks[node].levels == 2:
                with monkeypatch.context() as patch:
                    patch.setattr(block_precisely, "both_sides", lambda box, _, split: (box, box))
                    precise, _ = weights.precise(40)
                factors = np.array([float(part / max(precise)) for part in precise])
                scores = np.zeros_like(weights.exact_scores)
                found[node] = weights._replace(exact_scores=scores, exact_factors=factors)
        return found

    u = universe(4)
    piles = u.table({((1,), 0): 10, ((2,), 1): 10, ((3,), 0): 10})
    plan = u.plan(EPSILON, 2, lookahead=2, dataset_size=512, largest_count=512)
    assert exact_privacy_loss(u, plan, [piles], counts=(0, 512)).loss <= EPSILON + 1e-9
    monkeypatch.setattr(record_tree, "block_weights", mutant)
    assert exact_privacy_loss(u, plan, [piles], counts=(0, 512)).loss > 1.2 * EPSILON


# --- decision -------------------------------------------------------------------------------------


def centred_by(monkeypatch, counts):
    """Centre the score on counts made from the exact and the noisy ones."""
    real, ready = record_tree.centring, Growth.ready
    exact = []

    def mutant(growth, node):
        if isinstance(node, OpenNode):
            exact[:] = node.exact_totals.tolist()
        return ready(growth, node)

    monkeypatch.setattr(Growth, "ready", mutant)
    monkeypatch.setattr(record_tree, "centring", lambda noisy: real(counts(exact, noisy)))


def test_q_from_exact_counts(audit, monkeypatch):
    centred_by(monkeypatch, lambda exact, noisy: exact)
    assert audit(3, 2).loss == math.inf


def test_exact_n_in_q(audit, monkeypatch):
    centred_by(monkeypatch, lambda exact, noisy: [max(0, sum(exact) - noisy[1]), noisy[1]])
    assert audit(3, 2).loss == math.inf


def test_depth_from_exact_n(audit, monkeypatch):
    monkeypatch.setattr(Growth, "_size", lambda growth, exact_totals, _: int(exact_totals.sum()))
    assert audit(3, 2, dataset_size=None).loss == math.inf


def test_purity_stop(audit, monkeypatch):
    real = Growth.ready

    def mutant(growth, node):
        if isinstance(node, OpenNode) and np.count_nonzero(node.exact_totals) < 2:
            return growth._begin_block(node, growth._plan.label(node.at))
        return real(growth, node)

    monkeypatch.setattr(Growth, "ready", mutant)
    assert audit("3", 2, depth=2).loss == math.inf


def test_argmax_leaf_labels(universe, monkeypatch):
    real = record_tree.draw_last_level

    class Surely:
        def __init__(self, parts):
            self.choose = parts.choose

        def choose_by_score(self, exact_scores):
            return int(np.argmax(exact_scores))

    monkeypatch.setattr(
        record_tree, "draw_last_level", lambda parts, *rest: real(Surely(parts), *rest)
    )
    u = universe(2, 2)
    plan = u.plan(EPSILON, 1, dataset_size=1, largest_count=1)
    assert exact_privacy_loss(u, plan, u.tables(2)).loss == math.inf


def test_categories_ordered_by_exact_counts(universe, monkeypatch):
    """A cut in the order of the scores of the categories, in the place of any subset."""
    real = UpperSplit.draw

    def mutant(split, parts):
        part = parts.choose(split.weights())
        feature = feature_of(part, split._shape)
        if not split._shape.is_category[feature]:
            return real(split, parts)
        codes = codes_inside(split._box, split._shape, feature)
        exact_scores = split._exact_scores[split._shape.offsets[feature] + codes]
        order = np.argsort(exact_scores, kind="stable")
        cut = parts.choose_by_score(np.cumsum(exact_scores[order])[:-1])
        left = np.isin(np.arange(len(codes)), order[: cut + 1])
        return feature, codes[left], codes[~left]

    monkeypatch.setattr(UpperSplit, "draw", mutant)
    u = universe("3")
    plan = u.plan(EPSILON, 2, robust_levels=2, largest_count=1)
    assert exact_privacy_loss(u, plan, u.tables(1)).loss == math.inf


# --- ledger ---------------------------------------------------------------------------------------


def test_ledger_records_less_than_was_spent(audit, monkeypatch):
    real = accounts.Spend
    monkeypatch.setattr(
        accounts, "Spend", lambda name, epsilon, *rest: real(name, epsilon / 2, *rest)
    )
    found = audit(3, 2)
    assert found.recorded == Fraction(EPSILON, 2)
    assert found.loss > 1.9 * found.recorded
