"""Changes since a result was made, and its origin."""
