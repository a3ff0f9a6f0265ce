"""Explanations and pages as lines for people."""
