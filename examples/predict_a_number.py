"""How many hours a week does somebody work? A number as target, with a tree and an ensemble.

python examples/predict_a_number.py
"""

from pathlib import Path

import pandas as pd
from sklearn.tree import DecisionTreeRegressor

import privatree
from privatree import PrivaBoostRegressor, PrivaTreeRegressor, Schema, Target, datasets, export_text
from privatree.robustness import prediction_intervals

frame, _, adult = datasets.load("adult")
hours = frame.pop("hours-per-week")
held_out = frame.index % 5 == 0
X, y, X_test, y_test = frame[~held_out], hours[~held_out], frame[held_out], hours[held_out]

# The range is public knowledge: a week has 168 hours, whoever is in the table.
features = {name: adult.features[name] for name in frame}
schema = Schema(features, target=Target(0, 168, integer=True, name="hours per week"))

tree = PrivaTreeRegressor(epsilon=1.0, schema=schema).fit(X, y)
ensemble = PrivaBoostRegressor(epsilon=1.0, schema=schema).fit(X, y)
print(export_text(tree))

# The trees of scikit-learn need numbers in the place of categories, and promise nothing.
numbers = pd.get_dummies(frame)
not_private = DecisionTreeRegressor(max_depth=4, min_samples_leaf=5).fit(numbers[~held_out], y)

# Exact figures, about public records. Of private records they would be outside epsilon.
print(f"R2 of the tree      {tree.score(X_test, y_test):.2f}")
print(f"R2 of the ensemble  {ensemble.score(X_test, y_test):.2f}")
print(f"R2 without privacy  {not_private.score(numbers[held_out], y_test):.2f}")
strongest = (term.names[0] for term in ensemble.terms(max_pairs=0)[:3])
print("strongest features ", ", ".join(strongest))

tree.save("hours.json")
loaded = privatree.load("hours.json")
print("loaded, the same   ", (loaded.predict(X_test) == tree.predict(X_test)).all())
Path("hours.json").unlink()

# How far can ten records that somebody slips in, or takes out, move a typical prediction?
learner = PrivaTreeRegressor(0.1, max_depth=2, schema=schema, schedule="robust", robust_levels=2)
certified = prediction_intervals(learner, X, y, X_test[:2], poisoned=[10], refits=100)
for median, low, high in zip(certified.medians, *certified.interval(10), strict=True):
    print(f"{median:.1f} hours; with ten poisoned records from {low:.1f} to {high:.1f}")
