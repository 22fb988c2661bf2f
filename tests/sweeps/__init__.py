"""Tests of the comparison of a sweep's variants."""
