"""Runs, steps, dead letters, and close(): the one transaction that ends a run."""
