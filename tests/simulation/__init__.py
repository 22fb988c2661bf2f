"""Deterministic simulation: runs, workers and people over one store, in one thread, by one seed."""
