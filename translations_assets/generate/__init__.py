"""Finds the datasets of a language pair, chooses among them, and writes a training config."""
