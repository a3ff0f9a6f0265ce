"""What changed on a site between two publications: pages, chunks, questions, and what it cost.

The tables of now are held against `published_pages`, what the last report found, so that runs
that failed in between lose nothing. No Dagster in here.
"""
