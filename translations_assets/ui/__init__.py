"""Dagster's UI on one's own machine, guarded from the other pages that a browser has open."""
