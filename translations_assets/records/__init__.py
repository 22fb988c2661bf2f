"""What the store keeps of a result, as types."""
