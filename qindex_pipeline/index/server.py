"""The server engine: a Qdrant server or cluster through qdrant-client.

    <alias>                what readers see
    <alias>__previous      what they saw before the last switch, kept for a rollback
    <alias>__<fingerprint> the collections that these point to, or that are being filled

Both aliases move in one call, so that no crash leaves them apart.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from qdrant_client import QdrantClient, models

from qindex_pipeline.errors import WorkError
from qindex_pipeline.index.difference import (
    BY_HASH,
    BY_PAYLOAD,
    Comparison,
    Verification,
    diff,
    verify,
)
from qindex_pipeline.index.engine import (
    Manifest,
    Rollback,
    SyncReport,
    physical_name,
)
from qindex_pipeline.index.points import Point
from qindex_pipeline.index.server_calls import Retry, open_client, server_errors
from qindex_pipeline.index.server_collection import ServerCollection
from qindex_pipeline.index.server_points import ServerPoints
from qindex_pipeline.index.server_schema import ServerOptions, ensure_collection, mark_site
from qindex_pipeline.index.smoke import smoke
from qindex_pipeline.settings import Settings


def open_server(settings: Settings) -> "ServerEngine":
    """The engine of QDRANT_URL. Raises WorkError naming the address when it does not answer."""
    retry = Retry(settings.qdrant_retries)
    return ServerEngine(open_client(settings), ServerOptions.from_settings(settings), retry)


class ServerEngine:
    """Collections on a server."""

    def __init__(
        self,
        client: QdrantClient,
        options: ServerOptions | None = None,
        retry: Retry | None = None,
    ) -> None:
        """Work through `client`; tests pass one with `location=":memory:"`."""
        self._client = client
        self._options = options or ServerOptions()
        self._retry = retry or Retry()

    def open(self, alias: str) -> ServerCollection | None:
        """The collection behind `alias`, or None."""
        name = self._aliases().get(alias)
        return None if name is None else ServerCollection(self._client, name, self._retry)

    def live(self, alias: str) -> str | None:
        """The collection that the alias points to, or None."""
        return self._aliases().get(alias)

    def sync(
        self, alias: str, manifest: Manifest, site: str, points: Sequence[Point]
    ) -> SyncReport:
        """Upsert, verify, delete last; then let the alias follow when no site would vanish."""
        return self._publish(alias, manifest, site, points, BY_HASH)

    def verify(
        self, alias: str, manifest: Manifest, site: str, points: Sequence[Point]
    ) -> Verification:
        """Compare every payload of `site` with `points`."""
        name = physical_name(alias, manifest)
        with server_errors(name):
            known = self._retry(self._client.collection_exists, name)
            stored = self._points(name).payloads(site, BY_PAYLOAD) if known else {}
        return verify(stored, points)

    def repair(
        self, alias: str, manifest: Manifest, site: str, points: Sequence[Point]
    ) -> SyncReport:
        """Write what `verify` finds."""
        return self._publish(alias, manifest, site, points, BY_PAYLOAD)

    def rollback(self, alias: str) -> Rollback:
        """Exchange the two aliases."""
        aliases = self._aliases()
        live, kept = aliases.get(alias), aliases.get(_previous(alias))
        if live is None or kept is None:
            raise WorkError(
                f"nothing was kept behind {alias}: there is no earlier collection to go back to"
            )
        with server_errors(alias):
            self._point(aliases, {alias: kept, _previous(alias): live})
        return Rollback(before=live, now=kept)

    def remove(self, alias: str, site: str) -> int:
        """Delete the points of `site` from every collection of `alias`."""
        deleted = 0
        with server_errors(alias):
            for name in self._collections(alias):
                stored = self._points(name)
                gone = list(stored.payloads(site, BY_HASH))
                if gone:
                    mark_site(self._client, self._retry, name, site, whole=False)
                stored.delete(gone)
                deleted += len(gone)
        return deleted

    def _publish(
        self,
        alias: str,
        manifest: Manifest,
        site: str,
        points: Sequence[Point],
        comparison: Comparison,
    ) -> SyncReport:
        name = physical_name(alias, manifest)
        stored = self._points(name)
        with server_errors(name):
            whole = ensure_collection(self._client, self._retry, name, manifest, self._options)
            change = diff(stored.payloads(site, comparison), points, comparison)
            stored.upsert(change.upsert)
            count = stored.count(site)
            if count != len(points) + len(change.delete):
                raise WorkError(
                    f"site {site!r}: collection {name} holds {count} points instead of "
                    f"{len(points) + len(change.delete)}; nothing was deleted, materialise "
                    "question_index again"
                )
            stored.delete(change.delete)
            count = stored.count(site)
            if site not in whole:
                mark_site(self._client, self._retry, name, site, whole=True)
            waiting_for = self._switch(alias, name)
        return SyncReport(
            written=len(change.upsert),
            unchanged=change.unchanged,
            deleted=len(change.delete),
            count=count,
            collection=name,
            live=not waiting_for,
            waiting_for=waiting_for,
        )

    def _points(self, name: str) -> ServerPoints:
        return ServerPoints(self._client, self._retry, name)

    def _aliases(self) -> dict[str, str]:
        """Collection by alias."""
        with server_errors("aliases"):
            found = self._retry(self._client.get_aliases).aliases
        return {item.alias_name: item.collection_name for item in found}

    def _collections(self, alias: str) -> list[str]:
        ours = re.compile(re.escape(alias) + "__[0-9a-f]{8}")
        found = self._retry(self._client.get_collections).collections
        return [item.name for item in found if ours.fullmatch(item.name)]

    def _switch(self, alias: str, name: str) -> tuple[str, ...]:
        """Point the alias at `name`, or name the sites that readers see and `name` lacks."""
        aliases = self._aliases()
        live, kept = aliases.get(alias), aliases.get(_previous(alias))
        if live == name:
            return ()
        new = ServerCollection(self._client, name, self._retry)
        if live is not None:
            seen = ServerCollection(self._client, live, self._retry).sites()
            missing = set(seen) - new.whole_sites
            if missing:
                return tuple(sorted(missing))
        smoke(new, new.probes())
        self._point(aliases, {alias: name} | ({_previous(alias): live} if live else {}))
        if kept is not None and kept not in {name, live}:
            self._retry(self._client.delete_collection, kept)
        return ()

    def _point(self, aliases: Mapping[str, str], wanted: Mapping[str, str]) -> None:
        """Point aliases at collections in one call, which is not repeated when it fails."""
        actions: list[Any] = [
            models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias))
            for alias in wanted
            if alias in aliases
        ]
        for alias, name in wanted.items():
            create = models.CreateAlias(collection_name=name, alias_name=alias)
            actions.append(models.CreateAliasOperation(create_alias=create))
        self._client.update_collection_aliases(actions)


def _previous(alias: str) -> str:
    return f"{alias}__previous"
