"""Whether the price of electricity rises or falls."""

from privatree.reproduction.datasets._dataset import PaperDataset

DATASET = PaperDataset(
    name="electricity",
    title="electricity",
    suite="numerical",
    openml_id=44120,
    n_records=38_474,
    n_features=7,
    n_categorical=0,
    majority_share=0.5,
)
