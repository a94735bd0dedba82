"""Whether the price of electricity rises or falls; with the day of the week."""

from privatree.reproduction.datasets._dataset import PaperDataset

DATASET = PaperDataset(
    name="electricity-mixed",
    title="electricity",
    suite="mixed",
    openml_id=44156,
    n_records=38_474,
    n_features=8,
    n_categorical=1,
    majority_share=0.5,
)
