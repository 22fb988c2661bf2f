"""Tests of answers about data."""
