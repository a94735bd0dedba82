"""Cross-validation and a grid search cost epsilon at every fit; a budget in a file adds it up.

python examples/one_budget.py
"""

import tempfile
from pathlib import Path

from sklearn.model_selection import GridSearchCV, cross_val_score

from privatree import BudgetExceededError, PrivaTreeClassifier, datasets
from privatree.privacy import BudgetStore

frame, labels, schema = datasets.load("breast-w")

# Decided once, before anything is trained: what all models of these people may cost together.
file = Path(tempfile.mkdtemp()) / "breast-w.db"  # a real one is kept with the records
store = BudgetStore.create(file, epsilon=2.0, dataset="breast-w")
learner = PrivaTreeClassifier(epsilon=0.1, schema=schema, budget=store)

# Every fold is a fit, and every fit is charged. The accuracies are exact: of private records they
# would be outside epsilon. (And private records should be dealt to folds by something of their own,
# not by position as here: docs/choosing-epsilon.md.)
scores = cross_val_score(learner, frame, labels, cv=5)
print(f"5 folds: mean accuracy {scores.mean():.2f}, budget left {float(store.remaining):g}")

# Two depths x three folds, and one more fit of the best: seven times 0.1.
search = GridSearchCV(learner, {"max_depth": [1, 2]}, cv=3, error_score="raise")
search.fit(frame, labels)
print(f"grid search: {len(store.charges) - 5} fits, budget left {float(store.remaining):g}")

# What does not fit is refused before anything is drawn.
try:
    PrivaTreeClassifier(epsilon=1.0, schema=schema, budget=store).fit(frame, labels)
except BudgetExceededError as refusal:
    print(f"refused: {refusal}")

# The file remembers, also after a crash and for other processes.
print([float(charge.epsilon) for charge in BudgetStore(file).charges])
