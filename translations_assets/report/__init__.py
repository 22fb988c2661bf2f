"""What a partition's results look like to people: a report, and a model card, made from the store alone."""
