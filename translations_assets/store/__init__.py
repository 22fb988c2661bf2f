"""Stores: where finished steps live, immutable, under their keys."""
