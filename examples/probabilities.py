"""Probabilities have a price: a share of epsilon that buys noisy counts of the leaves.

By default the share is 5%. Without it, half of the probability follows the label of a leaf, and
half the class counts that were released above it.

    python examples/probabilities.py
"""

import numpy as np
from sklearn.metrics import brier_score_loss, roc_auc_score

from privatree import PrivaTreeClassifier, datasets

frame, labels, schema = datasets.load("adult")
held_out = frame.index % 5 == 0
earns_more = labels[held_out] == ">50K"

print("share  accuracy    AUC  Brier score  different probabilities")
for share in (0.0, 0.1, 0.3):
    model = PrivaTreeClassifier(epsilon=0.5, schema=schema, probability_share=share)
    model.fit(frame[~held_out], labels[~held_out])
    probability = model.predict_proba(frame[held_out])[:, 1]  # of ">50K", the second class
    print(
        f"{share:5.1f}  {model.score(frame[held_out], labels[held_out]):8.3f}"
        f"  {roc_auc_score(earns_more, probability):5.3f}"
        f"  {brier_score_loss(earns_more, probability):11.3f}"
        f"  {len(np.unique(probability)):3d}"
    )
