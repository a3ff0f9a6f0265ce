"""What a team is told of its sites: audits, freshness, and alerts about what failed."""
