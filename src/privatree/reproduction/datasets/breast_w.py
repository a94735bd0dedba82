"""Whether a breast tumour is malignant."""

from privatree.reproduction.datasets._dataset import PaperDataset

DATASET = PaperDataset(
    name="breast-w",
    title="breast-w",
    suite="uci",
    openml_id=15,
    n_records=683,
    n_features=9,
    n_categorical=0,
    majority_share=0.65,
)
