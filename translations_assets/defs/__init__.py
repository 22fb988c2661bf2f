"""What Dagster loads: assets, jobs, sensors, resources, partitions, the executor."""
