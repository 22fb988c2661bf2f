"""The Kubernetes runner: each attempt is a Job of the cluster, or a part of one."""
