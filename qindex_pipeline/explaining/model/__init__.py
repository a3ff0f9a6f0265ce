"""What is known of a page, and what an explanation is made of."""
