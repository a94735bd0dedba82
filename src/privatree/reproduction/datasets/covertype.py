"""Forest cover from maps: the commonest kind or another."""

from privatree.reproduction.datasets._dataset import PaperDataset

DATASET = PaperDataset(
    name="covertype",
    title="covertype",
    suite="numerical",
    openml_id=44121,
    n_records=566_602,
    n_features=10,
    n_categorical=0,
    majority_share=0.5,
)
