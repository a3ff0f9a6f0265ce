"""What the page is written from; minutes of work, done once."""
