"""The sex of a driver in a road accident."""

from privatree.reproduction.datasets._dataset import PaperDataset

DATASET = PaperDataset(
    name="road-safety",
    title="road-safety",
    suite="mixed",
    openml_id=45038,
    n_records=111_762,
    n_features=32,
    n_categorical=3,
    majority_share=0.5,
)
