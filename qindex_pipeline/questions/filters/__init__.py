"""Which proposed questions are indexed: named filters, each with its verdict."""
