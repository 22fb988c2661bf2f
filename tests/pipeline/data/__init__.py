"""Tests of the data scripts."""
