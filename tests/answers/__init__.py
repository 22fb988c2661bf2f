"""Tests of answers about the data of a store."""
