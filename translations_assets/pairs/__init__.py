"""All pairs at a glance: a page, and lines for a terminal, of what became of each training config."""
