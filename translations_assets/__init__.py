"""Training of small, fast translation models as Dagster assets."""
