"""The training config: schema, loading, languages, stage names."""
