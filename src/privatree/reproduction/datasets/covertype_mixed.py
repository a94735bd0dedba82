"""Forest cover from maps, with soil and area as categories: the two commonest kinds."""

from privatree.reproduction.datasets._dataset import PaperDataset

DATASET = PaperDataset(
    name="covertype-mixed",
    title="covertype",
    suite="mixed",
    openml_id=44159,
    n_records=423_680,
    n_features=54,
    n_categorical=44,
    majority_share=0.5,
)
