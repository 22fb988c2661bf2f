"""Tests of pipeline.checks."""
