"""Leaf modules that scripts share, one concern each, so that the code a script reaches stays small."""
