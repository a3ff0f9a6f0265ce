"""Processes that tests start and kill, forked from one that has imported all that they need.

Spawned ones would each import for seconds. multiprocessing knows one such server, with one list
of what it imports, for all tests.
"""

import multiprocessing

forkserver = multiprocessing.get_context("forkserver")
forkserver.set_forkserver_preload(
    [
        "qindex_pipeline_tests.index.reading",
        "qindex_pipeline_tests.questions.asked",
        "anthropic",
        "openai",
    ]
)
