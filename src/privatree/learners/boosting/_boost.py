"""The learner of a boosted ensemble (``docs/proofs/boosting.md``).

Each round draws one function with values -1 and +1, for records that are weighed by how badly the
rounds before fit them. The weight of a record follows from the record itself and from released
functions, so a neighbour moves the score of every function by at most one full weight. The learner
sees sums, never records.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from privatree.counting import Candidates, ClassCounts, FineCells
from privatree.counting.sums import (
    FULL_SIGNED_WEIGHT,
    CodeFunction,
    CodeSplit,
    RecordRule,
    RoundTables,
    WeightRule,
)
from privatree.learners.boosting._measure import (
    StepMeasure,
    class_code,
    public_order,
    public_share,
    root_measure,
    step_measure,
)
from privatree.learners.boosting._plan import BoostPlan, RoundPlan
from privatree.learners.boosting._released import released_function
from privatree.learners.boosting._round import RoundLaw, draw_function
from privatree.learners.boosting._round_kernels import round_decay
from privatree.learners.first_steps import (
    has_enough_records,
    release_size,
    too_few_records,
    weigh_classes,
)
from privatree.learners.zoom import zoom_in
from privatree.model.ensemble import Ensemble, Round
from privatree.privacy import ComposedLedger, Ledger
from privatree.privacy.mechanisms import SequentialExponential
from privatree.schema import Schema

_N_TOPS = 3
"""Number of public splits that a round of depth 3 offers before its root."""
_NO_TOP_SHARE = 0.25
"""Base measure of no such split."""


class Boosting:
    """One run of the learner after the number of records is released, round by round."""

    def __init__(
        self,
        records: ClassCounts,
        cells: FineCells,
        plan: BoostPlan,
        schema: Schema,
        ledger: Ledger,
        directions: Sequence[int],
        noisy_size: int | None,
    ) -> None:
        self._plan, self._schema, self._pure_ledger = plan, schema, ledger
        size = plan.planning_size(noisy_size)
        self.rounds: RoundPlan = plan.rounds(size)
        self._ledger: Ledger | ComposedLedger = ledger
        if plan.delta:
            groups = plan.range_groups(self.rounds)
            self._ledger = ledger.compose(
                plan.rounds_epsilon, plan.delta, groups, factor=plan.price
            )
        self._begin(records, size)
        zoom = zoom_in(records, cells, size, self.rounds.interval_epsilon, self._ledger)
        self.candidates: Candidates = zoom.candidates
        self._intervals, self._directions = zoom.intervals, directions
        weigh_classes(records, plan.class_factors, plan.balance_epsilon, ledger)
        self._full_weight = FULL_SIGNED_WEIGHT * records.full_weight
        self._measure: StepMeasure = step_measure(self.candidates, directions)
        self._root_features = [
            feature
            for feature, direction in enumerate(directions)
            if self.candidates.n_codes[feature] >= 2 and not direction
        ]
        self._sums = records.open_sums(self._n_scores)
        self._released: list[Round] = []

    @property
    def _n_scores(self) -> int:
        return 1 if self._plan.has_one_score else self._plan.n_classes

    def _begin(self, records: ClassCounts, size: int) -> None:
        """Do what comes before the intervals of features. For classes, this is nothing."""

    def _next_rule(self, turn: int) -> tuple[Sequence[int], RecordRule]:
        """Return what the next function adds to each score, and the signed weights of records."""
        code = class_code(self._plan.n_classes, turn)
        rounds = self.rounds
        rule = WeightRule.of_round(rounds.step, rounds.n_rounds, code, rounds.twice_scale)
        return code, rule

    def run_round(self) -> None:
        """Draw the function of one round, and add it to the scores of the records."""
        turn = len(self._released)
        code, rule = self._next_rule(turn)
        mechanism = SequentialExponential(self.rounds.round_epsilon, 2 * self._full_weight)
        law = self._law(mechanism.rate, turn)
        sums = self._sums.round_sums(rule, law.roots.rows, law.tops)
        draw = self._ledger.open_draw(mechanism, purpose="round")
        self.add_function(draw_function(draw, sums, law, self._sums), code)

    def _law(self, rate: Fraction, turn: int) -> RoundLaw:
        """Return the public law of a round."""
        order = public_order(len(self._root_features), "roots", turn)
        chosen = order[: self.rounds.n_root_features]
        roots = root_measure(self.candidates, sorted(self._root_features[i] for i in chosen))
        has_roots = self.rounds.no_root_share < 1.0 and roots.rows.n_rows > 0
        no_root_share = self.rounds.no_root_share if has_roots else 1.0
        powers = round_decay(rate, self._sums.exact_largest_sum)
        tops = self._public_splits(turn) if self._plan.max_depth == 3 and has_roots else ()
        no_top_share = _NO_TOP_SHARE if tops else 1.0
        return RoundLaw(rate, powers, self._measure, roots, no_root_share, tops, no_top_share)

    def _public_splits(self, turn: int) -> tuple[CodeSplit, ...]:
        """Return the public splits before the root: cuts of numbers, one category or the rest."""
        features = public_order(len(self._root_features), "tops", turn)[:_N_TOPS]
        splits = []
        for place in features:
            feature = self._root_features[place]
            roots = root_measure(self.candidates, [feature])
            shares = roots.measure[feature, : roots.n_candidates[feature]]
            chosen = public_share("top cuts", turn, place)
            candidate = int(np.searchsorted(np.cumsum(shares), chosen, side="right"))
            candidate = min(candidate, len(shares) - 1)
            splits.append(roots.split(feature, candidate, self.candidates.offsets))
        return tuple(splits)

    def add_function(self, drawn: CodeFunction, code: Sequence[int]) -> None:
        """Release a drawn function, and add it to the scores of the records."""
        amounts = code[-self._n_scores :]  # two classes have one score: that of the second
        tables = RoundTables.of_function(drawn, self._plan.max_depth, amounts)
        self._released.append(
            Round(released_function(drawn, self.candidates, self._schema), tuple(code))
        )
        self._sums.add_round(tables)

    def ensemble(self) -> Ensemble:
        """Return the ensemble of all rounds so far."""
        return Ensemble(
            self._schema,
            self.rounds.step,
            tuple(self._released),
            self._intervals,
            self._declared_directions,
        )

    @property
    def _declared_directions(self) -> dict[int, int]:
        return {place: way for place, way in enumerate(self._directions) if way}


def boost(
    records: ClassCounts,
    cells: FineCells,
    plan: BoostPlan,
    schema: Schema,
    ledger: Ledger,
    directions: Sequence[int],
    after_size: Callable[[int | None], None] = lambda noisy_size: None,
    counted: str = "records",
    show: Callable[[int, int], None] = lambda turn, n_rounds: None,
    make: Callable[..., Boosting] = Boosting,
) -> Ensemble:
    """Train the ensemble, with one pass over the records for each round.

    The codes of `records` are those of `cells`. `directions` has 1 for each feature that must not
    lower the log-odds of the second class, or the numeric target, -1 for one that must not raise
    them, and 0 for any other. `after_size` gets the noisy number of records, if the plan pays for
    one. It may raise an error, which ends the training before anything else is drawn. `counted` is
    what one weight stands for, in the words of spends and errors: "records" or "units". `show` is
    told each round.
    `make` makes the learner: by default that of classes.

    Raises
    ------
    TooFewRecordsError
        If the noisy number of records is below the plan's min_records.

    Notes
    -----
    Neighbours: those of the plan.
    Range: each round is a draw of bounded range, whatever was drawn before.
    Guarantee: (epsilon, delta)-DP with those of the plan, which the ledger enforces.
    Cost: at most the plan's epsilon and delta; the plan's size_epsilon if there are too few records
    or `after_size` raises.
    """
    noisy_size = None
    if plan.size_epsilon:
        noisy_size = release_size(records, plan.size_epsilon, ledger, counted)
        if not has_enough_records(noisy_size, plan.min_records):
            error = plan.size_error(records.full_weight)
            raise too_few_records(noisy_size, plan.min_records, error, counted)
    after_size(noisy_size)
    boosting = make(records, cells, plan, schema, ledger, directions, noisy_size)
    for turn in range(boosting.rounds.n_rounds):
        show(turn, boosting.rounds.n_rounds)
        boosting.run_round()
    return boosting.ensemble()
