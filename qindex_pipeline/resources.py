"""Dagster resources: the run's tools under its site's lock, and the Parquet IO manager."""

from collections.abc import Generator, Mapping
from typing import Any

import dagster as dg

from qindex_pipeline.locks import site_lock
from qindex_pipeline.pipeline import Pipeline
from qindex_pipeline.progress import LoggedProgress, Progress
from qindex_pipeline.settings import Settings
from qindex_pipeline.sites import Site
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import TABLES, Table, to_frame

PARTITION_TAG = "dagster/partition"


def pipeline_resource(
    settings: Settings, sites: Mapping[str, Site], progress: Progress | None
) -> dg.ResourceDefinition:
    """The run's `Pipeline`, held under the lock of the run's site until the run ends.

    Args:
        settings: Read once, at start.
        sites: The sites file.
        progress: Who listens; None writes to the run's log.
    """

    @dg.resource(description="Settings, models, tables and the index engine of this run.")
    def pipeline(context: dg.InitResourceContext) -> Generator[Pipeline]:
        log = context.log
        assert log is not None
        site = context.run.tags.get(PARTITION_TAG) if context.run else None
        tools = Pipeline(settings, sites, progress or LoggedProgress(log), site)
        if site is None:
            yield tools
            return
        with site_lock(settings.state_dir, site, tools.progress.warn):
            tools.preflight(site)
            yield tools

    return pipeline


class ParquetIOManager(dg.ConfigurableIOManager):
    """One Parquet file per asset and site, held against the asset's declared schema."""

    root: str

    def handle_output(self, context: dg.OutputContext, obj: Any) -> None:
        """Write the rows of one site, atomically; row count and columns become metadata."""
        table, site = _table(context.asset_key), context.partition_key
        store = ParquetStore(self.root)
        arrow = store.write(table, site, obj)
        context.add_output_metadata(
            {
                "dagster/row_count": arrow.num_rows,
                "dagster/column_schema": _column_schema(table),
                "path": store.path(table, site),
            }
        )

    def load_input(self, context: dg.InputContext) -> Any:
        """The rows of one site as a DataFrame with Arrow dtypes."""
        table = _table(context.asset_key)
        return to_frame(table, ParquetStore(self.root).read(table, context.partition_key))


def _table(key: dg.AssetKey) -> Table:
    return TABLES[key.path[-1]]


def _column_schema(table: Table) -> dg.TableSchema:
    return dg.TableSchema(
        [
            dg.TableColumn(
                name=field.name,
                type=str(field.type),
                description=field.metadata[b"doc"].decode(),
                constraints=dg.TableColumnConstraints(nullable=field.nullable),
            )
            for field in table.schema
        ]
    )
