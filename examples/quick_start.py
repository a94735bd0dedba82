"""A private tree of 45,222 people, what it promises, and how good it is.

python examples/quick_start.py
"""

from privatree import PrivaTreeClassifier, datasets, export_text

frame, labels, schema = datasets.load("adult")
held_out = frame.index % 5 == 0

# No random_state: the noise comes from the operating system, so every run draws another tree.
model = PrivaTreeClassifier(epsilon=0.1, max_depth=3, schema=schema)
model.fit(frame[~held_out], labels[~held_out])

print(export_text(model))
print(model.privacy_)

# An exact figure, about public records. Of private records it would be outside epsilon.
print(f"right for {model.score(frame[held_out], labels[held_out]):.0%} of the records held out")
