"""Tests of pipeline.translate."""
