"""Numbers that quality gates judge."""
