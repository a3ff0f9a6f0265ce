"""Where the threshold of a question comes from."""

from typing import TYPE_CHECKING

from qindex_pipeline.explaining.model.explanation import Threshold
from qindex_pipeline.retrieval.held import Published, limits

if TYPE_CHECKING:
    from qindex_pipeline.settings import Settings


def explained_threshold(
    settings: "Settings", index: Published, named: float | None, site: str | None
) -> Threshold:
    """The threshold of a result of `site`, and who says so.

    Args:
        settings: The settings.
        index: What was asked.
        named: What the caller named.
        site: The site of the result; None where there is none.
    """
    value = limits(settings, index, named)(site)
    if named is not None:
        return Threshold(value, "option", "named by --threshold")
    if settings.confidence_threshold is not None:
        return Threshold(value, "setting", "named by QINDEX_CONFIDENCE_THRESHOLD")
    if site in index.thresholds:
        return Threshold(value, "calibration", f"calibrated when {site} was indexed")
    embedder = index.collection.manifest.fingerprint.embedder
    return Threshold(value, "embedder", f"the default of {embedder}; {site} is not calibrated")
