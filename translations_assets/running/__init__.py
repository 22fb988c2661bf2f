"""Plan, engine and session: which results count, and the making of the others."""
