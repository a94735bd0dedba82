"""Whether houses of a Californian block cost more than the median."""

from privatree.reproduction.datasets._dataset import PaperDataset

DATASET = PaperDataset(
    name="california",
    title="california",
    suite="numerical",
    openml_id=45028,
    n_records=20_634,
    n_features=8,
    n_categorical=0,
    majority_share=0.5,
)
