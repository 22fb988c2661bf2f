"""Tests of pipeline.eval."""
