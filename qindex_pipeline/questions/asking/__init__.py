"""Asking many chunks: once ever, bounded, durable, within a budget."""
