"""Which leg lost a page, against which winner, and what would help."""
