"""What to send along with a model: a page for people, a card for a registry, a picture.

All of it is made from the released model alone, so it reveals no more and costs no epsilon.

    python examples/report_and_card.py
"""

from pathlib import Path

import pandas as pd

from privatree import PrivaTreeClassifier, Schema
from privatree.export import plot_tree, rules
from privatree.report import html_report, model_card

folder = Path(__file__).parent
schema = Schema.from_toml(folder / "patients.toml")
patients = pd.read_csv(folder / "patients.csv")
model = PrivaTreeClassifier(1.0, max_depth=3, schema=schema)
model.fit(patients[list(schema.features)], patients["readmitted"])

for rule in rules(model):
    print(rule.sentence)

Path("report.html").write_text(html_report(model), encoding="utf-8")  # open it in a browser
Path("card.md").write_text(model_card(model), encoding="utf-8")
plot_tree(model).figure.savefig("tree.svg")
print("Wrote report.html, card.md and tree.svg.")
