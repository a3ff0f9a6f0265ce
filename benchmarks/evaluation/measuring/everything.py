"""Measuring everything that the evaluation page is written from."""

import argparse
from pathlib import Path
from typing import Any

from retrieval_sets import add_cache_option, only_offline, stl_data

from evaluation.measuring.cost import measured_cost
from evaluation.measuring.ingest import measured_git
from evaluation.measuring.inputs import inputs, versions
from evaluation.measuring.refusal import measured_refusal
from evaluation.measuring.sets import measured_sets


def measured(cache: Path | None) -> dict[str, Any]:
    """All results; what the cache folder holds is not built again.

    Args:
        cache: Where indexes and vectors are kept; as in retrieval.py where it is not given.
    """
    parser = argparse.ArgumentParser()
    add_cache_option(parser)
    options = parser.parse_args([] if cache is None else ["--cache", str(cache)])
    options.git_data, ingest = measured_git(options.cache / "evaluation-git")
    only_offline()
    options.stl_data = None
    options.stl_data = stl_data(options)
    return {
        "inputs": inputs(options),
        "versions": versions(options.cache),
        "sets": measured_sets(options),
        "refusal": measured_refusal(options),
        "cost": measured_cost(options),
        "ingest": ingest,
    }
