"""The experiments of the paper: its datasets, methods, tables and figures, from one command."""
