"""Quality gates: what is judged, by which numbers, and what comes of it.

A gate reads numbers that steps computed and compares them with thresholds of the training config. Nothing
here is part of a step's key.
"""
