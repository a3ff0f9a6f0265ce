"""How good the index is, on questions with known answers."""
