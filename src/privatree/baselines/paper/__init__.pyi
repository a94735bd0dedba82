from privatree.baselines.paper._budget import PaperBudget as PaperBudget
from privatree.baselines.paper._budget import divide_paper_budget as divide_paper_budget
from privatree.baselines.paper._estimator import (
    PaperPrivaTreeClassifier as PaperPrivaTreeClassifier,
)
from privatree.baselines.paper._tree import PaperPlan as PaperPlan
from privatree.baselines.paper._tree import UnbinnedColumns as UnbinnedColumns
from privatree.baselines.paper._tree import grow_paper_tree as grow_paper_tree
