"""Tests of drawing lines of what steps read and left."""
