"""Cleaning of single data sets, and their merging into one corpus without duplicates and test sentences."""
