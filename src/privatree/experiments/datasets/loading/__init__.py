"""Where the records of a dataset come from, one place a file, and how they are cleaned."""
