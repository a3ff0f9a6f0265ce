"""Asset collection: what all sites' question_index partitions make up together.

No run materialises it. It is there for the checks that look at all sites at once, which a
partition of one site would be the wrong place for.
"""

import dagster as dg

from qindex_pipeline.assets import OWNERS
from qindex_pipeline.jobs import COLLECTION, QUESTION_INDEX

collection = dg.AssetSpec(
    COLLECTION,
    deps=[QUESTION_INDEX],
    description="The published collection that questions are asked of, with the points of all "
    "sites.",
    group_name="index",
    kinds={"qdrant"},
    owners=OWNERS,
)
