"""Tests of what a deployment is made of."""
