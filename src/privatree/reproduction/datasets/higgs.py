"""Simulated collisions: signal of a Higgs boson or background."""

from privatree.reproduction.datasets._dataset import PaperDataset

DATASET = PaperDataset(
    name="Higgs",
    title="Higgs",
    suite="numerical",
    openml_id=44129,
    n_records=940_160,
    n_features=24,
    n_categorical=0,
    majority_share=0.5,
)
