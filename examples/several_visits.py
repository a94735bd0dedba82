"""Patients who come several times: epsilon for a whole patient, not for each visit.

The visits are made up. A few patients come very often, and nearly always come back. A tree that
counts visits is about them; a tree that counts patients is about everybody.

    python examples/several_visits.py
"""

import numpy as np
import pandas as pd
from sklearn.metrics import balanced_accuracy_score

from privatree import Categorical, Numeric, PrivaTreeClassifier, Schema

rng = np.random.default_rng(0)
n_visits = np.minimum(rng.geometric(0.25, 5000), 20)  # of 5,000 patients, 1 to 20 each
patient = np.repeat(np.arange(5000), n_visits)
age = rng.integers(18, 95, 5000)[patient]
ward = rng.choice(["surgery", "internal", "maternity"], len(patient))
days = rng.geometric(0.2, len(patient))
risk = 0.05 + 0.3 * (age > 70) + 0.3 * (ward == "internal") + 0.3 * (n_visits[patient] > 8)
back = np.where(rng.random(len(patient)) < risk, "yes", "no")
visits = pd.DataFrame({"patient_id": patient, "age": age, "ward": ward, "days": days})

schema = Schema(
    features={
        "age": Numeric(0, 120, integer=True),
        "ward": Categorical(["surgery", "internal", "maternity"]),
        "days": Numeric(0, 365, integer=True),
    },
    classes=["no", "yes"],
    unit="patient_id",  # fit finds this column in the frame; it is not a feature
)
model = PrivaTreeClassifier(epsilon=0.5, max_depth=3, schema=schema).fit(visits, back)
print(model.privacy_)  # neighbours: datasets that differ by all records of one patient_id

is_right = model.predict(visits) == back
print(f"by visits: {is_right.mean():.1%} of the predictions are right")
print(f"by patients: {pd.Series(is_right).groupby(patient).mean().mean():.1%}")

# A class that is rare gets more weight: 2% of epsilon pay for the noisy class counts.
balanced = PrivaTreeClassifier(0.5, max_depth=3, schema=schema, class_weight="balanced")
balanced.fit(visits, back)
scores = [balanced_accuracy_score(back, one.predict(visits)) for one in (model, balanced)]
print("balanced: accuracy of a class, on average, {:.1%} before and {:.1%} after".format(*scores))
