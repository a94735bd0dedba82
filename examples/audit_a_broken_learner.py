"""An audit finds out that a learner does not keep the epsilon that it claims.

`NoisyMajority` predicts the most frequent label after adding noise to the counts. Somebody forgot
that the noise of a count with privacy epsilon has the scale 1/epsilon, and took a fifth of it.

    python examples/audit_a_broken_learner.py
"""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from privatree import Numeric, PrivaTreeClassifier, Schema
from privatree.audit import Neighbours, Records, audit


class NoisyMajority(ClassifierMixin, BaseEstimator):
    """The most frequent of two labels, by noisy counts."""

    def __init__(self, epsilon=1.0, random_state=None):
        self.epsilon = epsilon
        self.random_state = random_state

    def fit(self, X, y):
        """Count, add noise, compare."""
        rng = np.random.default_rng(self.random_state)
        counts = np.array([np.sum(np.asarray(y) == label) for label in (0, 1)])
        scale = 0.2 / self.epsilon  # the mistake: it should be 1 / epsilon
        self.classes_ = np.array([0, 1])
        self.majority_ = int(np.argmax(counts + rng.laplace(0, scale, 2)))
        return self

    def predict(self, X):
        """The same for everybody."""
        return np.full(len(X), self.majority_)


# Two tables that differ in one record: two of each label, and one more of the second.
schema = Schema({"x": Numeric(0, 10)}, classes=[0, 1])
smaller = Records([[1.0], [2.0], [8.0], [9.0]], [0, 0, 1, 1])
larger = Records([*smaller.X, [5.0]], [*smaller.y, 1])
pair = Neighbours("one more", "too little noise on counts", schema, smaller, larger)

print(audit(NoisyMajority(1.0, random_state=0), pair, runs=300))
print()
print(audit(PrivaTreeClassifier(1.0, schema=schema, random_state=0), pair, runs=100))
