"""What index and tables know: hits to any depth, chunks, questions, crawls."""
