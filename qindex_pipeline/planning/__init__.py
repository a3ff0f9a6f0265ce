"""What a run would fetch, ask and cost, found out without spending anything."""
