"""Vocabularies and the training of Marian models."""
