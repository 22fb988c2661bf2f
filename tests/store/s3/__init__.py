"""Tests of the adapter for S3."""
