from privatree.reproduction.datasets._catalogue import describe, names
from privatree.reproduction.datasets._load import load

__all__ = ["describe", "load", "names"]
