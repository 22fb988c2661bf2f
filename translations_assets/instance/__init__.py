"""Dagster's instance: its home, its web server, the processes of its runs."""
