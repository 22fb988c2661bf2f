"""Scoring a corpus with a translation model, and dropping its worst pairs."""
