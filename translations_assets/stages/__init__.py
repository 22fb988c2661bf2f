"""Stages: pure functions from a training config to steps."""
