"""Fixtures of the tests of keys."""

from tests.running.conftest import repository

__all__ = ["repository"]
