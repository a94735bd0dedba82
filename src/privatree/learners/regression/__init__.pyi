from privatree.learners.regression._grow import LeafNode as LeafNode
from privatree.learners.regression._grow import RegressionGrowth as RegressionGrowth
from privatree.learners.regression._grow import grow_regression_tree as grow_regression_tree
from privatree.learners.regression._knots import KNOT_WEIGHT as KNOT_WEIGHT
from privatree.learners.regression._knots import Knots as Knots
from privatree.learners.regression._levels import TargetLevels as TargetLevels
from privatree.learners.regression._plan import N_CLASSES as N_CLASSES
from privatree.learners.regression._plan import RegressionPlan as RegressionPlan
from privatree.learners.regression._target_interval import (
    draw_target_interval as draw_target_interval,
)
