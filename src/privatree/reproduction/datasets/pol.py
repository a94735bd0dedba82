"""A telecommunication problem, as two classes."""

from privatree.reproduction.datasets._dataset import PaperDataset

DATASET = PaperDataset(
    name="pol",
    title="pol",
    suite="numerical",
    openml_id=44122,
    n_records=10_082,
    n_features=26,
    n_categorical=0,
    majority_share=0.5,
)
