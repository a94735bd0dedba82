from privatree.baselines._bdpt import BDPTClassifier
from privatree.baselines._dpgdf import DPGDFClassifier
from privatree.baselines._random_tree import RandomTreeClassifier

__all__ = ["BDPTClassifier", "DPGDFClassifier", "RandomTreeClassifier"]
