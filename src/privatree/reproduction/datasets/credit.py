"""Whether a borrower gets into financial distress."""

from privatree.reproduction.datasets._dataset import PaperDataset

DATASET = PaperDataset(
    name="credit",
    title="credit",
    suite="numerical",
    openml_id=44089,
    n_records=16_714,
    n_features=10,
    n_categorical=0,
    majority_share=0.5,
)
