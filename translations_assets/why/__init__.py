"""What changed since a result was made, and where it came from."""
