"""What makes a cached result trustworthy: fingerprints and bundles of the code that a script reaches."""
