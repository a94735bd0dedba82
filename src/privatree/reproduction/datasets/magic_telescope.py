"""Simulated telescope images: gamma rays or background."""

from privatree.reproduction.datasets._dataset import PaperDataset

DATASET = PaperDataset(
    name="MagicTelescope",
    title="MagicTelescope",
    suite="numerical",
    openml_id=44125,
    n_records=13_376,
    n_features=10,
    n_categorical=0,
    majority_share=0.5,
)
