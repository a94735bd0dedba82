from privatree.robustness.poisoning_bounds._bounds import EpsilonDP as EpsilonDP
from privatree.robustness.poisoning_bounds._bounds import Spending as Spending
from privatree.robustness.poisoning_bounds._bounds import any_learner_bound as any_learner_bound
from privatree.robustness.poisoning_bounds._bounds import logit_bound as logit_bound
from privatree.robustness.poisoning_bounds._bounds import (
    max_tolerated_edits as max_tolerated_edits,
)
from privatree.robustness.poisoning_bounds._bounds import paper_bound as paper_bound
from privatree.robustness.poisoning_bounds._bounds import renyi_bound as renyi_bound
from privatree.robustness.poisoning_bounds._bounds import (
    stepwise_logit_bound as stepwise_logit_bound,
)
from privatree.robustness.poisoning_bounds._optimal_bound import Interval as Interval
from privatree.robustness.poisoning_bounds._optimal_bound import (
    optimal_trade_off as optimal_trade_off,
)
