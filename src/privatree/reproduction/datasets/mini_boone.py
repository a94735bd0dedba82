"""Electron neutrinos or muon neutrinos."""

from privatree.reproduction.datasets._dataset import PaperDataset

DATASET = PaperDataset(
    name="MiniBooNE",
    title="MiniBooNE",
    suite="numerical",
    openml_id=44128,
    n_records=72_998,
    n_features=50,
    n_categorical=0,
    majority_share=0.5,
)
