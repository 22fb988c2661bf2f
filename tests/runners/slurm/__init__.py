"""Tests of the runner of Slurm."""
