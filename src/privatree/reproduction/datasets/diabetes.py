"""Whether a patient develops diabetes."""

from privatree.reproduction.datasets._dataset import PaperDataset

DATASET = PaperDataset(
    name="diabetes",
    title="diabetes",
    suite="uci",
    openml_id=37,
    n_records=768,
    n_features=8,
    n_categorical=0,
    majority_share=0.651,
)
