"""Runners: where steps run; the worker runs one."""
