"""Fetching what earlier runs made: vocabularies, corpora, alignments and models."""
