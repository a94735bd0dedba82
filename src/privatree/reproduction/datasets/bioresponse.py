"""Whether a molecule causes a biological response."""

from privatree.reproduction.datasets._dataset import PaperDataset

DATASET = PaperDataset(
    name="Bioresponse",
    title="Bioresponse",
    suite="numerical",
    openml_id=45019,
    n_records=3434,
    n_features=419,
    n_categorical=0,
    majority_share=0.5,
)
