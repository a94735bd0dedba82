"""What privacy costs: the same records, a tree without privacy and private ones.

python examples/beside_scikit_learn.py
"""

from sklearn.tree import DecisionTreeClassifier

from privatree import PrivaTreeClassifier, datasets

frame, labels, schema = datasets.load("adult")
held_out = frame.index % 5 == 0

# scikit-learn wants numbers in the place of categories; privatree takes the frame as it is.
codes = frame.apply(lambda column: column.cat.codes if column.dtype == "category" else column)
plain = DecisionTreeClassifier(max_depth=4, random_state=0).fit(codes[~held_out], labels[~held_out])

most_frequent = labels[~held_out].mode()[0]
print(f"most frequent class    {(labels[held_out] == most_frequent).mean():.3f}")
for epsilon in (0.001, 0.01, 0.1, 1.0):
    model = PrivaTreeClassifier(epsilon, schema=schema, lookahead=2)
    model.fit(frame[~held_out], labels[~held_out])
    accuracy = model.score(frame[held_out], labels[held_out])
    print(f"epsilon {epsilon:<7}        {accuracy:.3f}")
print(f"without privacy        {plain.score(codes[held_out], labels[held_out]):.3f}")
