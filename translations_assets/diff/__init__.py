"""Differences between two runs, partitions, variants or times: gathered once, shown in three forms."""
