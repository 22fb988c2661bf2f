"""Bugs that are planted in copies of the tree, to see whether the simulation finds them; each in a file."""
