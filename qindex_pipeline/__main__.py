"""`python -m qindex_pipeline` is the command line `qindex`."""

from qindex_pipeline.cli import main

main()
