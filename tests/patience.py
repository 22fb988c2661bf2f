"""Seconds that a test waits for something that must happen; no test measures how long it took."""

PATIENCE = 400.0  # seconds; only a test that fails waits so long, however loaded the machine is
TRAINING_PATIENCE = 1500.0  # seconds, for commands that train a pair: three minutes of two idle cores
