"""Tests that need more than Python: each says what it misses and is skipped without it."""
