"""Tests of fetching what earlier runs made."""
