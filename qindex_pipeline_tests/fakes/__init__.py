"""Fakes at the network's edge: loopback servers that the real client libraries talk to.

Each speaks its provider's own HTTP protocol, records what it was asked, and answers without
chance. A test uses one as a context manager, or as a process through `fakes.standalone`.
"""
