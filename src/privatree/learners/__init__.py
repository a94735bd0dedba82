"""The algorithms, one a folder. They see counts, never records."""
