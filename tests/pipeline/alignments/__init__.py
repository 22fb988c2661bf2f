"""Tests of pipeline.alignments."""
