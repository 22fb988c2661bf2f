"""The store in a bucket of S3, or of a service that speaks as S3 does."""
