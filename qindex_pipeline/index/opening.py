"""Which index engine the settings name."""

from typing import TYPE_CHECKING

from qindex_pipeline.index.engine import Engine

if TYPE_CHECKING:
    from qindex_pipeline.settings import Settings


def open_engine(settings: "Settings") -> Engine:
    """The server engine when QDRANT_URL is set, else the embedded one in the state folder."""
    if settings.qdrant_url:
        from qindex_pipeline.index.server import open_server

        return open_server(settings)
    from qindex_pipeline.index.edge import EdgeEngine

    return EdgeEngine(settings.state_dir / "index")
