"""The party of a member of Congress, from votes."""

from privatree.reproduction.datasets._dataset import PaperDataset

DATASET = PaperDataset(
    name="vote",
    title="vote",
    suite="uci",
    openml_id=56,
    n_records=232,
    n_features=16,
    n_categorical=16,
    majority_share=0.534,
)
