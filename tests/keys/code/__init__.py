"""Tests of fingerprints and bundles of code."""
