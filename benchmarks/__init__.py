"""Benchmarks: each prints the figures that it measures, with several runs."""
