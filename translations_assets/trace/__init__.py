"""Sentences looked for in the texts of partitions, and what became of them."""
