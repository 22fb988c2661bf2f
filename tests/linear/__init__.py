"""Histories of real processes that share a store, and whether they are linearizable."""
