"""The page and its figures, from stored results alone; no model and no index is needed."""
