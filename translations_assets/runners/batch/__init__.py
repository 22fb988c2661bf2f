"""What the runners of Kubernetes and of Slurm share: batch jobs in which others run the steps."""
