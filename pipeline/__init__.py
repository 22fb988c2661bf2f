"""The scripts of the training pipeline: each runs one step, from files to a new folder."""
