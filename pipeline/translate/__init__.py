"""Translating text with trained models, in parts and whole."""
