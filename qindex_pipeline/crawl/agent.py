"""The name under which the crawler asks for pages and reads robots.txt."""

from importlib.metadata import version

USER_AGENT = f"QIndexBot/{version('qindex_pipeline')}"
