"""The Kubernetes runner."""
