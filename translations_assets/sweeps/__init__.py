"""A sweep's results: what its settings brought, beside the reference."""
