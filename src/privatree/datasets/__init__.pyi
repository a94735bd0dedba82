from privatree.datasets._bundled import Dataset, load, names

__all__ = ["Dataset", "load", "names"]
