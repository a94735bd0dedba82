"""Whether a diabetic patient is readmitted to hospital."""

from privatree.reproduction.datasets._dataset import PaperDataset

DATASET = PaperDataset(
    name="Diabetes130US",
    title="Diabetes130US",
    suite="numerical",
    openml_id=45022,
    n_records=71_090,
    n_features=7,
    n_categorical=0,
    majority_share=0.5,
)
