"""What is to be made: steps, stages, and the graph of them."""
