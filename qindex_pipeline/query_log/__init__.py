"""What was asked, kept for the people who own the docs, where they opt in."""
