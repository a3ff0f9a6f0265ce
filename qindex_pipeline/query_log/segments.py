"""The log as segments: Parquet files that are written once, read, merged and thrown away whole.

Nobody holds a lock: a merge writes first and deletes last, so a segment that two processes merge
at once, or that a kill leaves beside its merged copy, only holds rows twice; readers count an
`ask_id` once.
"""

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from typing import Any
from uuid import uuid4

from qindex_pipeline.errors import WorkError
from qindex_pipeline.query_log.folders import Folder

Row = Mapping[str, Any]

SMALL = 256 * 1024
"""Bytes below which a segment is merged with others: some 5,000 asks."""

MANY = 32
"""So many small segments of the current day are merged; those of a day that is over always are."""


def write(folder: Folder, rows: Sequence[Row]) -> None:
    """Store rows, a segment for each day on which they were asked. Raises WorkError."""
    ordered = sorted(rows, key=_order)
    for day, of_day in groupby(ordered, key=lambda row: _day(row["asked_at"])):
        folder.put(f"{day}/{uuid4().hex}.parquet", _encoded(list(of_day)))


def last_day(folder: Folder, today: date) -> date | None:
    """The last day on which something was asked; a day to come, of a wrong clock, is none."""
    days = {_day_of(name) for name in folder.sizes()}
    return max((day for day in days if day is not None and day <= today), default=None)


def read(folder: Folder, since: date, until: date) -> list[Row]:
    """The rows of the days from `since` to `until`, each ask once, in the order of asking.

    Looks again until nothing is new: what another process merges away comes back in a new one.

    Raises WorkError naming a segment that is none.
    """
    rows: dict[str, Row] = {}
    seen: set[str] = set()
    while names := [name for name in _between(folder.sizes(), since, until) if name not in seen]:
        for name in names:
            seen.add(name)
            rows.update({row["ask_id"]: row for row in _decoded(folder, name)})
    return sorted(rows.values(), key=_order)


def tidy(folder: Folder, max_bytes: int, today: date | None = None) -> None:
    """Merge small segments, and delete the oldest ones while all exceed `max_bytes`."""
    sizes = dict(folder.sizes())
    now = str(today or datetime.now(UTC).date())
    small = sorted(name for name, size in sizes.items() if size < SMALL)
    for day, names in groupby(small, key=lambda name: name.partition("/")[0]):
        _merge(folder, day, list(names), MANY if day >= now else 2)
    sizes = dict(folder.sizes())
    total = sum(sizes.values())
    for name in sorted(sizes):
        if total <= max_bytes:
            return
        folder.delete(name)
        total -= sizes[name]


def _merge(folder: Folder, day: str, names: Sequence[str], least: int) -> None:
    if len(names) < least:
        return
    rows = {row["ask_id"]: row for name in names for row in _decoded(folder, name)}
    if rows:
        merged = sorted(rows.values(), key=_order)
        folder.put(f"{day}/{uuid4().hex}.parquet", _encoded(merged))
    for name in names:
        folder.delete(name)


def _encoded(rows: Sequence[Row]) -> bytes:
    """A segment. Its rows go through JSON, because pyarrow loads pandas to read Python values.

    That takes a chatbot 60 MB, and fails in a process that is ending.
    """
    import pyarrow.json as pj
    import pyarrow.parquet as pq

    from qindex_pipeline.tables.query_log import QUERY_LOG
    from qindex_pipeline.tables.table import to_arrow

    lines = "".join(f"{json.dumps(row, default=datetime.isoformat)}\n" for row in rows)
    as_declared = pj.ParseOptions(explicit_schema=QUERY_LOG.schema)
    table = pj.read_json(io.BytesIO(lines.encode()), parse_options=as_declared)
    sink = io.BytesIO()
    stamped = to_arrow(QUERY_LOG, table).cast(QUERY_LOG.stamped_schema)
    pq.write_table(stamped, sink, compression="zstd")
    return sink.getvalue()


def _decoded(folder: Folder, name: str) -> Iterable[Row]:
    """The rows of a segment; none of one that another process has merged away."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from qindex_pipeline.tables.query_log import QUERY_LOG
    from qindex_pipeline.tables.table import to_rows
    from qindex_pipeline.tables.upgrades import upgraded

    data = folder.read(name)
    if data is None:
        return []
    try:
        arrow = pq.read_table(io.BytesIO(data))
    except pa.ArrowException as error:
        raise WorkError(
            f"{name} of the query log is no Parquet file ({str(error).splitlines()[0]}): delete it"
        ) from None
    return to_rows(QUERY_LOG, upgraded(QUERY_LOG, arrow, name))


def _between(names: Iterable[str], since: date, until: date) -> Iterator[str]:
    for name in sorted(names):
        day = _day_of(name)
        if day is not None and since <= day <= until:
            yield name


def _day_of(name: str) -> date | None:
    """The day of a segment, None of what is no segment's name."""
    try:
        return date.fromisoformat(name.partition("/")[0])
    except ValueError:
        return None


def _day(moment: datetime) -> date:
    return moment.astimezone(UTC).date()


def days_before(day: date, days: int) -> date:
    """The first of `days` days that end with `day`."""
    return day - timedelta(days=days - 1)


def _order(row: Row) -> tuple[datetime, str]:
    return row["asked_at"], row["ask_id"]
