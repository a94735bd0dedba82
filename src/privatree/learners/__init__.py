"""The learning algorithms, one per folder. They see counts, never records."""
