"""Types of the records that the store keeps of a result."""
