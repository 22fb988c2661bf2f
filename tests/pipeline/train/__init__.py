"""Tests of pipeline.train."""
