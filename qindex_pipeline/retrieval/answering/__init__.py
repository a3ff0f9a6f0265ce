"""From results to an answer that cites them."""
