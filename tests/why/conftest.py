"""The bench of the tests of runs, for the tests of explanations."""

from tests.running.conftest import bench, repository

__all__ = ["bench", "repository"]
