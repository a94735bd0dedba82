"""How much accuracy is left if somebody slips records into the table, whatever they are?

A certificate says so before any attack is known; an attack shows what one of them really does.

    python examples/poisoning_certificate.py
"""

from privatree import PrivaTreeClassifier, datasets
from privatree.robustness import LabelFlipAttack, accuracy_certificate

frame, labels, schema = datasets.load("breast-w")
held_out = frame.index % 4 == 0  # fixed before training
X_train, y_train = frame[~held_out], labels[~held_out]
X_test, y_test = frame[held_out], labels[held_out]

learner = PrivaTreeClassifier(epsilon=0.1, schema=schema, schedule="robust")
certificate = accuracy_certificate(
    learner, X_train, y_train, X_test, y_test, poisoned=[1, 2, 5, 10], refits=100
)
print(certificate.table()[["poisoned", "share", "guaranteed"]].round(3).to_string(index=False))
print("poisoned records that leave 60%:", certificate.tolerates(0.6))

# The worst case is for an attacker who knows everything. This one flips labels at random; a
# flipped label counts as two changes: one record removed, another one added.
attack = LabelFlipAttack(random_state=0)
poisoned = attack.poison(X_train, y_train, n=5)
model = learner.fit(poisoned.X, poisoned.y)
print(f"{poisoned.edits} edits by flipped labels: {model.score(X_test, y_test):.2f}")
