"""Whether a credit card's holder defaults; with its categories."""

from privatree.reproduction.datasets._dataset import PaperDataset

DATASET = PaperDataset(
    name="default-of-credit-card-clients-mixed",
    title="default-of-credit-card-clients",
    suite="mixed",
    openml_id=45036,
    n_records=13_272,
    n_features=21,
    n_categorical=1,
    majority_share=0.5,
)
