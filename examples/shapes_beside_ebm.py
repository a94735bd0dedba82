"""What an ensemble has learnt about each feature, beside DP-EBM with the same epsilon and delta.

Without interpret-core (pip install interpret-core), only our curves are drawn.

    python examples/shapes_beside_ebm.py
"""

from importlib.util import find_spec

import numpy as np
from matplotlib import pyplot
from sklearn.metrics import roc_auc_score

from privatree import Numeric, PrivaBoostClassifier, datasets, plot_term

NAMES = ["age", "education-num", "hours-per-week"]
frame, labels, schema = datasets.load("adult")
held_out = np.arange(len(frame)) % 5 == 0
train, train_labels = frame[~held_out], labels[~held_out]
truth = labels[held_out] == ">50K"

ours = PrivaBoostClassifier(epsilon=1.0, delta=1e-6, schema=schema).fit(train, train_labels)
print(f"our AUC     {roc_auc_score(truth, ours.decision_function(frame[held_out])):.3f}")

rows = 2 if find_spec("interpret") else 1
figure, axes = pyplot.subplots(rows, 3, figsize=(10.5, 3.1 * rows), layout="constrained")
for name, ax in zip(NAMES, np.atleast_2d(axes)[0], strict=True):
    plot_term(ours, name, ax=ax)
    ax.set(title=f"{name}: ours", ylabel="effect on log-odds")

if rows == 2:
    from interpret.privacy import DPExplainableBoostingClassifier

    kinds = {name: isinstance(kind, Numeric) for name, kind in schema.features.items()}
    numbers = [(place, name) for place, name in enumerate(kinds) if kinds[name]]
    features = schema.features
    ebm = DPExplainableBoostingClassifier(
        epsilon=1.0,
        delta=1e-6,
        feature_names=list(kinds),
        feature_types=["continuous" if number else "nominal" for number in kinds.values()],
        privacy_bounds={at: (features[name].low, features[name].high) for at, name in numbers},
    )
    ebm.fit(train, train_labels.to_numpy())
    print(f"AUC DP-EBM  {roc_auc_score(truth, ebm.predict_proba(frame[held_out])[:, 1]):.3f}")
    for name, ax in zip(NAMES, axes[1], strict=True):
        # Their scores at whole numbers, as a difference to one record that stays as it is.
        values = np.arange(schema.features[name].low, schema.features[name].high + 1)
        records = frame.iloc[[0] * len(values)].assign(**{name: values.astype(int)})
        scores = ebm.decision_function(records)
        ax.axhline(0, color="0.6", linewidth=0.8)
        ax.step(values, scores - scores.mean(), where="mid", color="#D55E00")
        ax.set(title=f"{name}: DP-EBM", xlabel=name, ylabel="effect on log-odds")

figure.savefig("shapes.svg")
print("Wrote shapes.svg.")
