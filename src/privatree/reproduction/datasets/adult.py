"""Whether a person earns more than 50,000 dollars a year."""

from privatree.reproduction.datasets._dataset import PaperDataset

DATASET = PaperDataset(
    name="adult",
    title="adult",
    suite="uci",
    openml_id=1590,
    n_records=45_222,
    n_features=14,
    n_categorical=8,
    majority_share=0.752,
)
