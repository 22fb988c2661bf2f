"""The worker of a pod: its request, its own code, and its replies."""
