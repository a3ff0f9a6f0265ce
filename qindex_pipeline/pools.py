"""How many steps of one kind go on at once, over all runs: `python -m qindex_pipeline.pools`.

Sets the limit of each pool that has none yet; what somebody set since stands. The daemon's
container does so before it starts. Dagster's own default for pools, in dagster.yaml, is left
out: on PostgreSQL 1.13.27 fails the step of a run that meets a pool which another run has just
given the default to, and every step after the default was changed.
"""

import sys
from collections.abc import Mapping

import dagster as dg

CRAWL, LLM, INDEX = "crawl", "llm", "index"

LIMITS: Mapping[str, int] = {
    CRAWL: 4,  # each is another site, and polite by itself; the limit is this machine's browsers
    LLM: 2,  # with QINDEX_LLM_CONCURRENCY calls in flight each
    INDEX: 2,  # a server takes more, but slows readers down; the embedded engine takes one
}


def set_limits(instance: dg.DagsterInstance) -> list[str]:
    """Set the limits that `instance` lacks; a line for each pool."""
    storage = instance.event_log_storage
    known = {pool.name: pool.limit for pool in storage.get_pool_limits()}
    for name, limit in LIMITS.items():
        if name not in known:
            storage.set_concurrency_slots(name, limit)
    return [f"pool {name}: {known.get(name, limit)} at once" for name, limit in LIMITS.items()]


def main() -> None:
    """Set them in the instance of DAGSTER_HOME."""
    with dg.DagsterInstance.get() as instance:
        sys.stdout.writelines(f"{line}\n" for line in set_limits(instance))


if __name__ == "__main__":
    main()
