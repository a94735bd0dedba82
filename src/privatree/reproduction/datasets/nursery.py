"""Whether a nursery school recommends an application."""

from privatree.reproduction.datasets._dataset import PaperDataset

DATASET = PaperDataset(
    name="nursery",
    title="nursery",
    suite="uci",
    openml_id=959,
    n_records=12_960,
    n_features=8,
    n_categorical=8,
    majority_share=0.667,
)
