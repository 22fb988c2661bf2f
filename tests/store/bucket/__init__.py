"""Tests of store.bucket."""
