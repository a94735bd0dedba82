"""An anonymous dataset of the AutoML challenge."""

from privatree.reproduction.datasets._dataset import PaperDataset

DATASET = PaperDataset(
    name="jannis",
    title="jannis",
    suite="numerical",
    openml_id=45021,
    n_records=57_580,
    n_features=54,
    n_categorical=0,
    majority_share=0.5,
)
