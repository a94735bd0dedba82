"""Whether a home equity loan is repaid."""

from privatree.reproduction.datasets._dataset import PaperDataset

DATASET = PaperDataset(
    name="heloc",
    title="heloc",
    suite="numerical",
    openml_id=45026,
    n_records=10_000,
    n_features=22,
    n_categorical=0,
    majority_share=0.5,
)
