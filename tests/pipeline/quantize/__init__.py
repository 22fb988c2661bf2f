"""Tests of pipeline.quantize."""
