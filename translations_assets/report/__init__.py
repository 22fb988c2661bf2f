"""A partition's results for people: a report, and a model card, made from the store alone."""
