"""Answers about data: samples of the text of steps, and the models that were trained on a dataset."""
