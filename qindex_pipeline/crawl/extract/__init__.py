"""What a page says: from its HTML to its main content as markdown."""
