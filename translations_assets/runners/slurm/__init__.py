"""The runner of Slurm: steps as batch jobs."""
