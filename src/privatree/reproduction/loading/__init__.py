"""Where the records of the paper's datasets come from.

::

    _folder.py        loads from the user's own folder
    _bundled.py       loads from the package
    _cached.py        loads from the cache, and stores there
    _openml.py        downloads from OpenML
    _mnist.py         the zeros and ones of MNIST
    _cleaning.py      drops rows with missing values, and makes the schema
    _shape.py         compares the size of a dataset with the paper's table
    _fingerprint.py   a hash of the records
    _parquet.py       Parquet files with a fingerprint in their metadata
"""
