"""Datasets of the paper, from wherever they are.

::

    _folder.py        the user's own folder
    _bundled.py       the package
    _cached.py        the cache
    _openml.py        OpenML
    _mnist.py         MNIST
    _cleaning.py      rows with missing values dropped, types made plain
    _shape.py         does it have the shape of the paper's table?
    _fingerprint.py   a hash of the records
    _parquet.py       Parquet files that hold their fingerprint
"""
