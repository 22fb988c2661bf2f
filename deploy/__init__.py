"""What a deployment is made of: images, manifests, Dagster's settings; `local`: the same on one machine."""
