"""Results of steps: scores, speed, curves, lines. Read from the store and typed here, shown by all others."""
