"""Tests of the differences between two runs, partitions, variants or times."""
