"""House prices from census figures, as two classes."""

from privatree.reproduction.datasets._dataset import PaperDataset

DATASET = PaperDataset(
    name="house_16H",
    title="house_16H",
    suite="numerical",
    openml_id=44123,
    n_records=13_488,
    n_features=16,
    n_categorical=0,
    majority_share=0.5,
)
