"""Runs as people know them: Dagster's run and the record in the store, merged in one place."""
