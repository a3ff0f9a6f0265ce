"""Stage embeddings: from texts to vectors of one fingerprint."""
