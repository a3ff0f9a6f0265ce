"""Asking over HTTP: requests, their limits and pace, what an answer means."""
