"""Whether a defendant offends again within two years."""

from privatree.reproduction.datasets._dataset import PaperDataset

DATASET = PaperDataset(
    name="compas-two-years",
    title="compas-two-years",
    suite="mixed",
    openml_id=45039,
    n_records=4966,
    n_features=11,
    n_categorical=8,
    majority_share=0.5,
)
