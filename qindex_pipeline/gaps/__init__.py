"""What the docs do not answer, from the questions that were asked."""
