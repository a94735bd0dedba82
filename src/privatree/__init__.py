"""privatree."""
