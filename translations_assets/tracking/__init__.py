"""Results of a partition in tools that track experiments: TensorBoard's files, runs in Weights & Biases."""
