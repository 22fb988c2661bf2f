"""The worker of a pod: how it is told what to do, how it gets its own code, and how it answers."""
