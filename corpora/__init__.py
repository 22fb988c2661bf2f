"""Builders of corpora that anyone can make anew, for configs of this repository."""
