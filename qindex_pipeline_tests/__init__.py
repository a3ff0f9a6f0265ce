"""Tests of qindex_pipeline."""
