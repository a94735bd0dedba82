"""Whether a bank's customer subscribes to a deposit."""

from privatree.reproduction.datasets._dataset import PaperDataset

DATASET = PaperDataset(
    name="bank-marketing",
    title="bank-marketing",
    suite="numerical",
    openml_id=44126,
    n_records=10_578,
    n_features=7,
    n_categorical=0,
    majority_share=0.5,
)
