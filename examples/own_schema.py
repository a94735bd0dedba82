"""A schema of one's own: what is public is written down, the records are read by it.

`patients.csv` is made up (see `make_patients.py`). The numbers below come from common knowledge
about hospitals, not from the file: nobody looked for the largest age in it.

    python examples/own_schema.py
"""

from pathlib import Path

import pandas as pd

import privatree
from privatree import Categorical, Numeric, PrivaTreeClassifier, Schema

schema = Schema(
    features={
        "age": Numeric(0, 120, integer=True),
        "sex": Categorical(["female", "male", "other"]),
        "admission": Categorical(["planned", "emergency"]),
        "ward": Categorical(["cardiology", "internal", "maternity", "orthopaedics", "surgery"]),
        "days": Numeric(0, 365, integer=True),
        "earlier_admissions": Numeric(0, 50, integer=True),
        # Grams per decilitre. Not measured counts as 13: a common value, in nobody's favour.
        "haemoglobin": Numeric(3, 25, missing=13),
        "discharged_to": Categorical(["home", "home with care", "nursing home"]),
    },
    classes=["no", "yes"],
)  # "patient", a number that each patient has, is left out: nothing can be learned from it

# Types are public too. With dtype= they do not depend on what the records hold.
number, text = "float64", "str"
kinds = {
    name: number if isinstance(feature, Numeric) else text
    for name, feature in schema.features.items()
}
table = pd.read_csv(
    Path(__file__).with_name("patients.csv"),
    usecols=[*kinds, "readmitted"],
    dtype=kinds | {"readmitted": text},
)
X, y = table[list(schema.features)], table["readmitted"]

model = PrivaTreeClassifier(epsilon=1.0, max_depth=3, schema=schema).fit(X, y)
model.save("model.json")

# The file has the tree, the schema and the statement; no record, and no code.
loaded = privatree.load("model.json")
print(privatree.export_text(loaded))
print(loaded.predict(X.head(3)))
