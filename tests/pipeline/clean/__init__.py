"""Tests of cleaning and merging."""
