"""A step's key, and the code, libraries and programs in it."""
