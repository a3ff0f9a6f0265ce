"""From a user's question to ranked, judged chunks."""
