"""Tests of store.gcs."""
