"""Whether a mushroom can be eaten."""

from privatree.reproduction.datasets._dataset import PaperDataset

DATASET = PaperDataset(
    name="mushroom",
    title="mushroom",
    suite="uci",
    openml_id=24,
    n_records=5644,
    n_features=22,
    n_categorical=22,
    majority_share=0.618,
)
