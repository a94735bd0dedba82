"""Whether a sentence is relevant, from the eyes of its reader."""

from privatree.reproduction.datasets._dataset import PaperDataset

DATASET = PaperDataset(
    name="eye_movements",
    title="eye_movements",
    suite="numerical",
    openml_id=44130,
    n_records=7608,
    n_features=20,
    n_categorical=0,
    majority_share=0.5,
)
