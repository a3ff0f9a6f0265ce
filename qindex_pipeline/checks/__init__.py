"""Asset checks, by what they judge."""
