"""The `translations` command, a file per verb."""
