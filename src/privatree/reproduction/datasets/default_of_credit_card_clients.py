"""Whether a credit card's holder defaults."""

from privatree.reproduction.datasets._dataset import PaperDataset

DATASET = PaperDataset(
    name="default-of-credit-card-clients",
    title="default-of-credit-card-clients",
    suite="numerical",
    openml_id=45020,
    n_records=13_272,
    n_features=20,
    n_categorical=0,
    majority_share=0.5,
)
