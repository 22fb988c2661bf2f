"""Steps: what they are, their keys, the plan, and the engine that runs what is missing."""
