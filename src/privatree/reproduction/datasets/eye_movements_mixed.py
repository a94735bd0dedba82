"""Whether a sentence is relevant, from the eyes of its reader; with its categories."""

from privatree.reproduction.datasets._dataset import PaperDataset

DATASET = PaperDataset(
    name="eye_movements-mixed",
    title="eye_movements",
    suite="mixed",
    openml_id=44157,
    n_records=7608,
    n_features=23,
    n_categorical=3,
    majority_share=0.5,
)
