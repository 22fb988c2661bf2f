"""Tests of pipeline.cefilter."""
