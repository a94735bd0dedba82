from privatree.baselines.methods._method import Method, Training
from privatree.baselines.methods._registry import get, names, survey

__all__ = ["Method", "Training", "get", "names", "survey"]
