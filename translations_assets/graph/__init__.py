"""Steps, stages, and the graph of them."""
