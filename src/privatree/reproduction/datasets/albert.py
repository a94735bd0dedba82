"""An anonymous dataset of the AutoML challenge."""

from privatree.reproduction.datasets._dataset import PaperDataset

DATASET = PaperDataset(
    name="albert",
    title="albert",
    suite="mixed",
    openml_id=45035,
    n_records=58_252,
    n_features=31,
    n_categorical=10,
    majority_share=0.5,
)
