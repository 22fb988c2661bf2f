"""Dagster's definitions: assets, jobs, sensors, resources, partitions, the executor."""
