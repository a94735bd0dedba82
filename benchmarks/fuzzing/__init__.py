"""Mutated files through the loaders; ``benchmarks/fuzz_loaders.py`` runs it."""
