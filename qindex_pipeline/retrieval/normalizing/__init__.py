"""From a query to the forms of it that are searched."""
