"""What tools that track experiments show of a partition: TensorBoard's files, runs in Weights & Biases."""
