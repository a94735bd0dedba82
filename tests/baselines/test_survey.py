"""Every method of the survey: its budget, its law, what its statement says, and hard tables."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import privatree
from privatree import Categorical, Numeric, ParameterError, Schema
from privatree.baselines import (
    DPDF,
    DPRFMV,
    DPRFTA,
    ADiffP,
    DiffGen,
    DiffPC45,
    DiffPID3,
    DTDiff,
    PrivateRDT,
    PublishedClassifier,
    RanaForest,
    SmoothRandomTrees,
    SuLQBasedID3,
    SuLQID3,
    TrainSingleTree,
)
from privatree.baselines.greedy._dpdf import CountsOfNode
from privatree.baselines.growing import _growth, _specialising, _structures
from privatree.baselines.growing._coding import CUT, GRID, MULTIWAY, ONE, Coding
from privatree.baselines.growing._growth import OpenNode
from privatree.baselines.growing._labellers import NoisyValue, SmoothLabel
from privatree.baselines.growing._method import Job
from privatree.baselines.growing._rules import Choice, FewRecords
from privatree.baselines.growing._scores import gradient_score
from privatree.baselines.growing._structures import deal_records
from privatree.baselines.random_forests._smooth_random_trees import CAP, capped_smooth_loss
from privatree.privacy import Randomness
from privatree.privacy.mechanisms import Gaussian, Laplace

pytestmark = pytest.mark.filterwarnings("ignore::privatree.PaperClaimWarning")

SCHEMA = Schema(
    {
        "a": Categorical(["p", "q", "r"]),
        "b": Categorical([0, 1]),
        "c": Numeric(0, 3, integer=True),
        "d": Categorical(["x", "y"]),
        "e": Categorical(["only"]),
    },
    ["no", "yes"],
)
THREE = Schema(SCHEMA.features, ["no", "yes", "maybe"])
# Proved epsilon as a share of the claim, at depth 2 with one numeric feature without cuts.
SINGLE = {
    SuLQID3(): 1,
    PrivateRDT(n_trees=1): 1,
    SuLQBasedID3(): Fraction(5, 6),
    DiffPID3(): Fraction(2, 3),
    DiffPID3("gini"): Fraction(2, 3),
    DiffPID3("entropy", 100): Fraction(2, 3),
    DiffPC45(): Fraction(6, 8),
    DiffGen(): Fraction(7, 10),
    DiffGen("information"): Fraction(9, 10),
    DTDiff(): Fraction(3, 4),
    DPRFMV(n_trees=1): 1,
    DPDF(n_trees=1): None,
    DPDF(n_trees=1, sensitivity="global"): 1,
    RanaForest(n_trees=1): 1,
    SmoothRandomTrees(n_trees=1, capped=False): None,
    ADiffP(regret=0.9): 1,
    TrainSingleTree(): Fraction(5, 6),
}
FORESTS = {
    PrivateRDT(3): 1,
    DPRFMV(3): 1,
    DPRFTA(3): 1,
    DPDF(3): None,
    DPDF(3, "global", prune=True): 1,
    RanaForest(3): 3,
    SmoothRandomTrees(3, capped=False): None,
}


def table(n=400, schema=SCHEMA, seed=0):
    rng = np.random.default_rng(seed)
    columns = {
        "a": rng.choice(["p", "q", "r"], n),
        "b": rng.integers(0, 2, n),
        "c": rng.integers(0, 4, n),
        "d": rng.choice(["x", "y"], n),
        "e": ["only"] * n,
    }
    likely = 0.1 + 0.8 * ((columns["a"] == "q") | (columns["c"] > 2))
    place = (rng.random(n) < likely) * rng.integers(1, len(schema.classes), n)
    return pd.DataFrame(columns), np.array(schema.classes, dtype=object)[place]


def trained(method, epsilon=1.0, depth=2, schema=SCHEMA, data=None, seed=0):
    model = PublishedClassifier(method, epsilon, max_depth=depth, schema=schema, random_state=seed)
    return model.fit(*(table(schema=schema) if data is None else data))


def path_total(tree, spends):
    spent = [Fraction(0)] * tree.n_nodes
    for spend in spends:
        spent[spend.node or 0] += spend.times * spend.epsilon
    for node in tree.splits.tolist():
        for child in tree.children(node):
            spent[child] += spent[node]
    return max(spent)


# --- budgets and statements -----------------------------------------------------------------------


@pytest.mark.parametrize("method", SINGLE, ids=str)
def test_the_deepest_path_spends_what_is_proved_and_the_statement_says_it(method):
    share = SINGLE[method]
    model = trained(method, 1e4, schema=SCHEMA)
    privacy = model.privacy_
    assert privacy.learner == type(method).__name__
    total = path_total(model.tree_, privacy.spends)
    if share is None:
        assert privacy.epsilon == math.inf
        assert privacy.claimed_epsilon == 1e4
        assert total == 10**4
        assert privacy.leaks
        return
    if isinstance(method, DiffGen) and not isinstance(method, DTDiff):
        # A threshold for the second step is drawn if the first one has split a number.
        assert total in (share * 10**4, share * 10**4 - model.privacy_.spends[0].epsilon)
    else:
        assert total == pytest.approx(float(share) * 1e4, rel=1e-12)
    assert privacy.epsilon == pytest.approx(float(share) * 1e4, rel=1e-12)
    assert privacy.epsilon >= total
    assert privacy.claimed_epsilon is None
    assert not privacy.leaks
    assert ("is proved" in " ".join(privacy.notes)) == (share != 1)
    assert privacy.delta == (1e-6 if isinstance(method, SuLQID3) else 0)


@pytest.mark.parametrize("method", FORESTS, ids=str)
def test_a_forest_says_what_is_proved_for_all_of_its_trees(method):
    with pytest.warns(privatree.PaperClaimWarning) if FORESTS[method] != 1 else Nothing():
        model = trained(method, 6.0)
    privacy = model.privacy_
    assert privacy.epsilon == (math.inf if FORESTS[method] is None else 6.0 * FORESTS[method])
    assert privacy.claimed_epsilon == (None if FORESTS[method] == 1 else 6.0)
    assert len(model.estimators_) == 3
    assert not hasattr(model, "tree_")
    frame, _ = table(50, seed=1)
    votes = model.predict_proba(frame)
    assert votes.sum(axis=1) == pytest.approx(1)
    assert (model.predict(frame) == model.classes_[votes.argmax(axis=1)]).all()
    labels = [one.predict(frame) for one in model.estimators_]
    if method.vote == "majority":
        expected = np.mean([labels[k][:, None] == model.classes_ for k in range(3)], axis=0)
    elif method.vote == "average":
        expected = np.mean([one.predict_proba(frame) for one in model.estimators_], axis=0)
    else:
        weights = [one.predict_proba(frame).max(axis=1) for one in model.estimators_]
        expected = (
            sum((labels[k][:, None] == model.classes_) * weights[k][:, None] for k in range(3))
            / np.sum(weights, axis=0)[:, None]
        )
    np.testing.assert_allclose(votes, expected)
    with pytest.raises(ParameterError, match="one tree"):
        model.save("nowhere.json")
    assert (
        pickle.loads(pickle.dumps(model)).predict(frame).tolist() == model.predict(frame).tolist()
    )


class Nothing:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


# --- hard tables ----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [*SINGLE, *FORESTS], ids=str)
@pytest.mark.parametrize("schema", [SCHEMA, THREE], ids=["two classes", "three"])
def test_it_trains_on_whatever_records_there_are(method, schema):
    frame, labels = table(60, schema)
    one_class, one_category = labels == "no", (frame.a == "p").to_numpy()
    for rows in (np.zeros(60, bool), one_class, one_category, np.arange(60) == 5):
        model = trained(method, 0.5, schema=schema, data=(frame[rows], labels[rows]))
        assert set(model.predict(frame)) <= set(schema.classes)
        assert model.classes_.tolist() == list(schema.classes)


@pytest.mark.parametrize("method", [SuLQBasedID3(), DiffPID3(), DPDF(1), ADiffP(regret=0.9)])
def test_a_split_has_a_child_for_each_category_of_the_schema(method):
    frame, labels = table(2000)
    rows = frame.a.to_numpy() != "r"
    model = trained(
        method, 1e3, depth=4, data=(frame[rows][["a", "b", "c", "d", "e"]], labels[rows])
    )
    tree = model.tree_
    splits = tree.splits_by_feature()
    for node in splits[0]:
        assert len(tree.left_codes(node)) < 3  # two splits for three categories
    assert splits[0]
    assert len(splits[0]) % 2 == 0
    paths = [set(tree.feature[path[:-1]].tolist()) for path in tree.paths(tree.leaves)]
    assert all(4 not in used for used in paths)


def test_bins_of_numbers_are_public():
    schema = Schema({"n": Numeric(0, 100)}, [0, 1])
    X = np.linspace(41, 49, 500)[:, None]
    y = (X[:, 0] > 45).astype(int)
    methods = (SuLQBasedID3(), DiffPC45(), RanaForest(1), TrainSingleTree(), DiffGen(), DTDiff())
    for method in methods:
        tree = trained(method, 1e3, schema=schema, data=(X, y)).tree_
        steps = (
            tree.threshold[tree.splits] * (10 if isinstance(method, SuLQBasedID3) else 255) / 100
        )
        assert len(steps)
        assert steps == pytest.approx(np.rint(steps))
    for method in (SuLQID3(), DiffPID3(), DPDF(1), ADiffP()):
        assert trained(method, 1e3, schema=schema, data=(X, y)).tree_.n_nodes == 1
        declared = Schema({"n": Numeric(0, 100, cuts=[20, 45])}, [0, 1])
        model = trained(method, 1e3, depth=1, schema=declared, data=(X, y))
        assert model.score(X, y) > 0.95


def test_a_tree_has_no_more_nodes_than_a_model_may_have(monkeypatch):
    for module in (_growth, _structures, _specialising):
        monkeypatch.setattr(module, "MAX_NODES", 1000)
    features = {f"f{k}": Categorical(range(12)) for k in range(4)}
    schema = Schema(features, [0, 1])
    X = np.random.default_rng(0).integers(0, 12, (200, 4))
    for method in (DTDiff(), PrivateRDT(1), RanaForest(1), DPDF(1)):
        assert 200 < trained(method, 1.0, 4, schema, (X, X[:, 0] % 2)).tree_.n_nodes <= 1000


# --- laws -----------------------------------------------------------------------------------------


class Scripted:
    """A ledger that notes what it is asked for, and answers the exact numbers."""

    def __init__(self, answers=None):
        self.asked, self.remaining = [], Fraction(1)
        self.answers = answers or {}

    def release(self, mechanism, exact, *, purpose, node, times=1):
        self.asked.append((purpose, mechanism, np.array(exact), times))
        if hasattr(mechanism, "score_range"):
            return self.answers.get(purpose, 0)
        return np.array(exact, dtype=float)

    def find(self, purpose):
        return next(entry[1:] for entry in self.asked if entry[0] == purpose)


def at_the_root(candidates):
    """All that a chooser sees of the table at the root, with a ledger that notes its questions."""
    frame, labels = table()
    codes = {
        c: pd.Categorical(frame[c], SCHEMA.features[c].categories).codes
        for c in ("a", "b", "d", "e")
    }
    columns = [codes["a"], codes["b"], frame.c.to_numpy(float), codes["d"], codes["e"]]
    records = candidates.coding.bin_records(columns, (labels == "yes").astype(np.int32), 2)
    ledger = Scripted()
    counts = records.class_counts()[0], records.class_totals()[0]
    choice = Choice(OpenNode((0,), ledger, 0), candidates, np.arange(len(candidates)), *counts)
    return choice, ledger, frame, labels == "yes"


def asked(method, epsilon=Fraction(1)):
    """What a method asks the ledger of the root for, by purpose, and the split."""
    coding, rules = method.rules(Job(SCHEMA, epsilon, 1, [], None, None))
    choice, ledger, frame, labels = at_the_root(coding.candidates(MULTIWAY))
    split = rules.split(choice.node, choice.exact_counts, choice.exact_totals)
    return ledger, split, frame, labels


def children(values, labels):
    return [
        (int((~labels[values == v]).sum()), int(labels[values == v].sum())) for v in set(values)
    ]


@pytest.mark.parametrize(
    ("method", "sensitivity", "of_child"),
    [
        (DiffPID3("max"), 1, max),
        (DiffPID3("gini"), 2, lambda c: -sum(c) * (1 - sum((k / sum(c)) ** 2 for k in c))),
        (
            DiffPID3("entropy", 999),
            math.log2(1000) + 1 / math.log(2),
            lambda c: sum(k * math.log2(k / sum(c)) for k in c if k),
        ),
    ],
)
def test_splits_of_diffpid3_follow_the_published_law(method, sensitivity, of_child):
    """The root chooses feature a with probability proportional to exp(e q(a) / (2 S))."""
    ledger, _, frame, labels = asked(method)
    e = Fraction(1, 4)
    mechanism, exact, _ = ledger.find("split")
    q = np.array(
        [sum(map(of_child, children(frame[c].to_numpy(), labels))) for c in ("a", "b", "d")]
    )
    law = np.exp(float(e) * (q - q.max()) / (2 * sensitivity))
    np.testing.assert_allclose(np.exp(mechanism.log_probabilities(exact)), law / law.sum())
    assert mechanism.epsilon == e / 2
    assert ledger.find("size of a node")[0] == Laplace(e)


def test_thresholds_of_diffp_c45_follow_the_published_law():
    ledger, split, frame, labels = asked(DiffPC45())
    e, values = Fraction(1, 5), frame.c.to_numpy()  # (2 + 1) levels and 2 more
    mechanism, exact, _ = ledger.find("threshold of a numeric feature")
    q = np.array([sum(map(max, children(values > cut, labels))) for cut in (0.5, 1.5, 2.5)])
    law = np.exp(float(e) * (q - q.max()) / 2)
    np.testing.assert_allclose(np.exp(mechanism.log_probabilities(exact)), law / law.sum())
    _, exact_split, _ = ledger.find("split")
    others = [sum(map(max, children(frame[c].to_numpy(), labels))) for c in "ab"]
    d = sum(map(max, children(frame.d.to_numpy(), labels)))
    assert exact_split.tolist() == [*others, q[0], d]  # the scripted draw takes the first threshold
    assert split.position == 0


def test_the_stop_rule_counts_children():
    """A cut has two children, however fine the grid is: 3 categories and 2 classes are 6 cells."""
    candidates = Coding.public(SCHEMA, GRID).candidates(MULTIWAY, of_numbers=CUT)
    choice, *_ = at_the_root(candidates)
    assert choice.n_children.tolist() == [3, 2, 2, 2, 2, 2]
    for epsilon, stops in ((Fraction(211, 10000), True), (Fraction(213, 10000), False)):
        assert FewRecords(epsilon)(choice) == stops  # 400/6 against sqrt(2)/epsilon


def test_splits_of_train_single_tree_follow_the_published_law():
    candidates = Coding.public(SCHEMA, GRID).candidates(ONE, of_numbers=CUT)
    choice, ledger, frame, labels = at_the_root(candidates)
    splits = [frame[c].to_numpy() == v for c in "ab" for v in SCHEMA.features[c].categories]
    splits += [frame.c.to_numpy() <= v for v in (0.5, 1.5, 2.5)]
    splits += [frame.d.to_numpy() == v for v in "xy"]
    gains = [sum((p - n) ** 2 / (n + p + 0.1) for n, p in children(s, labels)) for s in splits]
    law = np.exp((np.array(gains) - max(gains)) / 2 / 6)  # half of epsilon, on one level
    score = gradient_score(0.1)
    choice.draw(score.draw(Fraction(1, 2)), score)
    mechanism, exact, _ = ledger.find("split")
    np.testing.assert_allclose(np.exp(mechanism.log_probabilities(exact)), law / law.sum())
    assert mechanism.epsilon == Fraction(1, 3)


@pytest.mark.parametrize(
    ("sensitivity", "exponent"), [("published", 401**2 / 800), ("global", 2.0)]
)
def test_splits_of_dpdf_follow_the_published_law(sensitivity, exponent):
    """With probability proportional to exp(epsilon u / (2 sensitivity))."""
    choice, ledger, frame, labels = at_the_root(Coding.public(SCHEMA).candidates(MULTIWAY))
    query = CountsOfNode(Fraction(1, 3), DPDF(1, sensitivity))
    assert not query.is_too_small(choice)
    query.choose(choice)
    mechanism, exact, _ = ledger.find("split")

    def impurity(side):
        return sum(sum(c) * (1 - sum((k / sum(c)) ** 2 for k in c)) for c in side) / 400

    u = np.array([-impurity(children(frame[c].to_numpy(), labels)) for c in ("a", "b", "d")])
    law = np.exp((u - u.max()) / 3 / 2 * exponent)
    np.testing.assert_allclose(np.exp(mechanism.log_probabilities(exact)), law / law.sum())
    assert query.label(choice.node, choice.exact_totals).label == int(labels.mean() > 0.5)
    below = OpenNode((1,), Scripted(), 1, parent=choice.node)
    empty = query.label(below, np.zeros(2, dtype=int))
    assert empty == query.label(choice.node, choice.exact_totals)


def test_sulq_based_id3_releases_counts_and_sizes_at_the_published_scale():
    ledger, split, *_ = asked(SuLQBasedID3(), Fraction(4))
    for purpose in ("counts of children", "sizes of children"):
        mechanism, exact, times = ledger.find(purpose)
        assert (mechanism, times) == (Laplace(Fraction(1, 2 * 4)), 4)  # e = 1, four features
        assert exact.sum() == 4 * 400
    assert split.position == 0  # of exact counts, feature a tells most


def test_sulq_id3_releases_one_vector_for_a_node():
    ledger, split, *_ = asked(SuLQID3(), Fraction(100))
    mechanism, exact, times = ledger.find("size and counts of a node")
    assert isinstance(mechanism, Gaussian)
    assert (mechanism.epsilon, mechanism.delta) == (50, Fraction(1e-6) / 2)
    assert float(mechanism.sensitivity) == pytest.approx(math.sqrt(7))  # of three features
    assert (exact[0], len(exact), times) == (400, 1 + 7 + 14, 1)
    assert split.position == 0


def test_adiffp_pays_for_a_split_what_its_noisy_size_asks_for():
    ledger, split, *_ = asked(ADiffP(regret=0.05), Fraction(1))
    assert ledger.find("size of a node")[0] == Laplace(Fraction(1, 32))
    price = (math.log(3) + math.log(20)) / (0.05 * 400)
    assert float(ledger.find("split")[0].epsilon) == pytest.approx(price)
    ledger, split, *_ = asked(ADiffP(regret=0.01), Fraction(1))
    assert split is None  # 1.02 is more than half of epsilon


def test_the_value_of_a_leaf_changes_by_its_sensitivity_at_most():
    """All leaves of up to 30 records, with and without regularisation."""
    for regularisation in (0.0, 0.1, 2.0):
        bound = 1 / (1 + regularisation)
        worst = 0.0
        for n in range(30):
            for s in range(-n, n + 1, 2):
                before = s / (n + regularisation) if n else 0.0
                worst = max(
                    worst, *(abs((s + g) / (n + 1 + regularisation) - before) for g in (-1, 1))
                )
        assert worst == pytest.approx(bound)
    ledger = Scripted()
    leaf = NoisyValue(Fraction(1), Fraction(1, 2))(OpenNode((0,), ledger, 0), np.array([1, 4]))
    mechanism, exact, _ = ledger.find("value of a leaf")
    assert mechanism == Laplace(Fraction(1), Fraction(2, 3))
    assert exact == pytest.approx(3 / 5.5)
    assert leaf.label == 1
    assert leaf.probability == pytest.approx((1 - 8.5 / 11, 8.5 / 11))


# --- smooth labels --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "loss"), [(0.01, 0.497), (0.1, 4.72), (0.5, 14.6), (1, 22.7), (2, 42.6), (5, 49.3)]
)
def test_the_cap_bounds_the_loss_of_a_smooth_label(epsilon, loss):
    found = float(capped_smooth_loss(Fraction(epsilon), 2))
    assert found == pytest.approx(loss, rel=0.006)
    assert found > 1.5 * epsilon


@pytest.mark.parametrize(("epsilon", "n_classes"), [(1.0, 2), (1.0, 3), (0.3, 3), (2.0, 4)])
def test_the_bound_of_a_smooth_label_is_attained_and_never_exceeded(epsilon, n_classes):
    label = SmoothLabel(Fraction(epsilon), CAP)

    def law(counts):
        scores = (counts == counts.max()).astype(np.int64)
        return label.mechanism(counts).log_probabilities(scores)

    worst = 0.0
    top = 14 if n_classes == 2 else 7 if n_classes == 3 else 4
    grid = np.stack(np.meshgrid(*[np.arange(top)] * n_classes), -1).reshape(-1, n_classes)
    lead = [np.array([k, *[0] * (n_classes - 1)]) for k in range(60)]
    for counts in [*grid, *lead]:
        before = law(counts)
        for k in range(n_classes):
            more = counts.copy()
            more[k] += 1
            worst = max(worst, np.abs(law(more) - before).max())
    bound = float(capped_smooth_loss(Fraction(epsilon), n_classes))
    assert worst <= bound + 1e-9
    assert worst == pytest.approx(bound, rel=1e-9)


def test_records_are_dealt_one_by_one():
    """Where a record goes does not depend on the others; parts have no fixed size."""
    columns, labels = [np.arange(1000.0)], np.zeros(1000, dtype=np.int32)
    all_parts = deal_records(columns, labels, 4, Randomness(0))
    fewer = deal_records([columns[0][:999]], labels[:999], 4, Randomness(0))
    for (whole,), (part,) in zip((c for c, _ in all_parts), (c for c, _ in fewer), strict=True):
        assert [v for v in whole.tolist() if v < 999] == part.tolist()
    sizes = {
        len(own)
        for seed in range(20)
        for _, own in deal_records(columns, labels, 4, Randomness(seed))
    }
    assert len(sizes) > 10
    assert sorted(v for (c,), _ in all_parts for v in c.tolist()) == columns[0].tolist()


# --- options --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "method",
    [
        DiffPID3("gain ratio"),
        DiffPID3(max_records=0),
        DiffGen("gini"),
        DPDF(sensitivity="local"),
        DPDF(n_trees=0),
        ADiffP(regret=0),
        TrainSingleTree(-1),
        SuLQID3(delta=0),
        PrivateRDT(n_trees=0),
        DiffGen(taxonomies={"a": ["p", "q"]}),
    ],
    ids=str,
)
def test_a_wrong_option_is_refused(method):
    with pytest.raises(ParameterError):
        trained(method)


def test_a_method_must_be_one():
    with pytest.raises(ParameterError, match="method must be a published method such as"):
        trained("diffpid3")


def test_taxonomies_are_walked_from_the_top():
    taxonomies = {"a": [["p", "q"], "r"]}
    model = trained(DiffGen(taxonomies=taxonomies), 1e4, depth=1)
    tree = model.tree_
    if tree.feature[0] == 0:
        assert set(tree.left_codes(0)) == {0, 1}
    rows = table(2000)
    found = [
        trained(DTDiff(taxonomies=taxonomies), 1e4, depth=k, data=rows).score(*rows) for k in (1, 3)
    ]
    assert found[1] >= found[0]


def test_clones_are_alike_and_depths_are_checked():
    model = PublishedClassifier(DiffPID3("gini"), 0.5, schema=SCHEMA, random_state=3)
    twin = clone(model)
    assert twin.get_params()["method"] == DiffPID3("gini")
    assert twin.fit(*table()).tree_ == model.fit(*table()).tree_
    with pytest.raises(ParameterError, match="max_depth"):
        clone(model).set_params(max_depth=11).fit(*table())


def test_without_a_schema_there_is_no_guarantee():
    with pytest.warns(privatree.PrivacyLeakWarning, match="schema"):
        model = PublishedClassifier(PrivateRDT(1)).fit(*table())
    assert model.privacy_.epsilon == math.inf
