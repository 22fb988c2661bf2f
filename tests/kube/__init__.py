"""A Kubernetes cluster to test against: an API server, real or fake, and nodes that run pods as processes."""
