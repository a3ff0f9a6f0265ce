"""Collections, payload indexes and aliases behind the Qdrant server.

qdrant-client's local mode does the work. It ignores payload indexes and most creation options:
those are kept here and stand in a collection's info, as on the server. Not safe for threads.
"""

from typing import Any

from pydantic_core import to_jsonable_python
from qdrant_client import QdrantClient, models

_DEFAULT_PARAMS = {
    "shard_number": 1,
    "replication_factor": 1,
    "write_consistency_factor": 1,
    "on_disk_payload": True,
}


class QdrantStore:
    """Each operation takes a collection's name and the JSON body of its REST call.

    It returns the `result` of the answer, `{}` standing for a finished update operation. A
    refused call raises ValueError.
    """

    def __init__(self) -> None:
        self.client = QdrantClient(location=":memory:")
        self._indexes: dict[str, dict[str, Any]] = {}
        """Collection to field to the schema that its index was created with."""
        self._options: dict[str, dict[str, Any]] = {}
        """Collection to the options of its creation and updates, as sent."""

    def close(self) -> None:
        """Free the collections."""
        self.client.close()

    def collections(self, _: str, __: Any) -> object:
        """GET /collections."""
        return self.client.get_collections()

    def exists(self, name: str, _: Any) -> object:
        """GET /collections/{name}/exists."""
        return {"exists": self.client.collection_exists(name)}

    def create(self, name: str, body: Any) -> object:
        """PUT /collections/{name}."""
        config = models.CreateCollection.model_validate(body)
        self.client.create_collection(
            name,
            vectors_config=config.vectors or {},
            sparse_vectors_config=config.sparse_vectors,
            metadata=config.metadata,
        )
        self._options[name] = body
        self._indexes[name] = {}
        return True

    def update(self, name: str, body: Any) -> object:
        """PATCH /collections/{name}."""
        config = models.UpdateCollection.model_validate(body)
        self.client.update_collection(
            name, sparse_vectors_config=config.sparse_vectors, metadata=config.metadata
        )
        options = self._options[self.physical(name)]
        for key, value in (body | (body.get("params") or {})).items():
            old = options.get(key)
            options[key] = old | value if isinstance(old, dict) else value
        return True

    def delete(self, name: str, _: Any) -> object:
        """DELETE /collections/{name}."""
        self._indexes.pop(name, None)
        self._options.pop(name, None)
        return self.client.delete_collection(name)

    def info(self, name: str, _: Any) -> object:
        """GET /collections/{name}."""
        info = to_jsonable_python(self.client.get_collection(name))
        options = self._options[self.physical(name)]
        config = info["config"]
        for key, default in _DEFAULT_PARAMS.items():
            sent = options.get(key)
            config["params"][key] = default if sent is None else sent
        config["hnsw_config"] |= options.get("hnsw_config") or {}
        config["optimizer_config"] |= options.get("optimizers_config") or {}
        config["quantization_config"] = options.get("quantization_config")
        config["strict_mode_config"] = options.get("strict_mode_config")
        info["payload_schema"] = {
            field: {
                "data_type": data_type(schema),
                "params": schema if isinstance(schema, dict) else None,
                "points": self._points_with(name, field),
            }
            for field, schema in self.indexes(name).items()
        }
        return info

    def create_index(self, name: str, body: Any) -> object:
        """PUT /collections/{name}/index."""
        index = models.CreateFieldIndex.model_validate(body)
        if index.field_schema is None:
            raise ValueError(f"the type of field {index.field_name} is missing")
        self.indexes(name)[index.field_name] = body["field_schema"]
        return {}

    def delete_index(self, name: str, field: str) -> object:
        """DELETE /collections/{name}/index/{field}."""
        self.indexes(name).pop(field, None)
        return {}

    def change_aliases(self, _: str, body: Any) -> object:
        """POST /collections/aliases: all of its actions, or none."""
        operation = models.ChangeAliasesOperation.model_validate(body)
        return self.client.update_collection_aliases(operation.actions)

    def aliases(self, _: str, __: Any) -> object:
        """GET /aliases."""
        return self.client.get_aliases()

    def collection_aliases(self, name: str, _: Any) -> object:
        """GET /collections/{name}/aliases."""
        return self.client.get_collection_aliases(name)

    def indexes(self, name: str) -> dict[str, Any]:
        """Field to index schema of a collection or alias."""
        return self._indexes[self.physical(name)]

    def physical(self, name: str) -> str:
        """The collection behind an alias; the name itself otherwise."""
        for alias in self.client.get_aliases().aliases:
            if alias.alias_name == name:
                return alias.collection_name
        if name not in self._indexes:
            raise ValueError(f"Collection {name} not found")
        return name

    def _points_with(self, name: str, field: str) -> int:
        empty = models.IsEmptyCondition(is_empty=models.PayloadField(key=field))
        return self.client.count(name, models.Filter(must_not=[empty])).count


def data_type(schema: Any) -> str:
    """The type of a payload index: its schema is that type's name or an object with `type`."""
    return schema["type"] if isinstance(schema, dict) else schema
