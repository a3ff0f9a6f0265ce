"""The sites file: which docs sites there are. Its keys are the Dagster partition keys.

Reading gives `Site` models; adding and removing keeps the comments of the file.
"""

import difflib
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, ValidationError, model_validator
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from qindex_pipeline.cron import cron_expression
from qindex_pipeline.errors import UsageError
from qindex_pipeline.site_options import CrawlOptions

KEY = re.compile(r"[a-z0-9][a-z0-9.-]{0,62}")

_PATHS = ("folder", "ca_file", "eval_questions", "eval_unanswerable")
"""Options that are read relative to the sites file."""


OFF = "off"
"""`schedule` of a site that no schedule runs: a CI job indexes it, or a person does."""


def _schedule(text: str) -> str:
    return text if text == OFF else cron_expression(text)


class Site(CrawlOptions):
    """One docs site. Either `start_url` or `folder` says where its pages are.

    A `folder` is a built site on disk; its pages carry `base_url` in ids and citations.
    """

    key: str
    start_url: str = Field(default="", description="where the crawl begins")
    folder: Path | None = Field(default=None, description="a built site on disk")
    base_url: str = Field(default="", description="the address of a folder's pages")

    schedule: Annotated[str, AfterValidator(_schedule)] | None = Field(
        default=None, description="cron of its runs, UTC, or off; default QINDEX_SCHEDULE"
    )

    subject: str | None = Field(
        default=None, description="what it documents, as users call it; default: by its title"
    )

    eval_questions: Path | None = Field(
        default=None, description="JSON lines of questions whose pages are known"
    )
    eval_unanswerable: Path | None = Field(
        default=None, description="JSON lines of questions that the site doesn't answer"
    )
    eval_floor: float | None = Field(
        default=None, ge=0, le=1, description="fused MRR@10 below which nothing is published"
    )

    @model_validator(mode="after")
    def _asks_before_it_judges(self) -> Self:
        for name in ("eval_unanswerable", "eval_floor"):
            if getattr(self, name) is not None and self.eval_questions is None:
                raise ValueError(f"{name} needs eval_questions")
        return self

    @model_validator(mode="after")
    def _has_one_source(self) -> Self:
        check_key(self.key)
        if bool(self.start_url) == (self.folder is not None):
            raise ValueError("give either start_url or folder")
        if self.start_url and (
            urlsplit(self.start_url).scheme not in {"http", "https"}
            or not urlsplit(self.start_url).hostname
        ):
            raise ValueError(f"start_url {self.start_url!r} is not an http(s) address")
        return self

    @property
    def public_url(self) -> str:
        """The address under which the site's pages are cited."""
        if self.folder is None:
            return self.start_url
        return (self.base_url or f"http://{self.key}/").rstrip("/") + "/"


def check_key(key: str) -> str:
    """Return `key`, or raise UsageError when it cannot be a partition key and a file name."""
    if not KEY.fullmatch(key):
        raise UsageError(
            f"site key {key!r} is not valid: use a-z, 0-9, '.' and '-', at most 63 characters, "
            "beginning with a letter or digit"
        )
    return key


def load_sites(path: Path) -> dict[str, Site]:
    """Read the sites file into models, in the file's order.

    A folder or file is taken relative to the sites file. Raises UsageError naming the file, the
    site and the option that is wrong. A file that does not exist holds no site.
    """
    sites = _read(path).get("sites") or {}
    if not isinstance(sites, Mapping):
        raise UsageError(f"{path}: `sites` must map site keys to options")
    return {str(key): _site(path, str(key), options) for key, options in sites.items()}


def require_known(path: Path, known: Collection[str], key: str | None) -> None:
    """Raise UsageError for a site that the sites file does not have; None names all of them."""
    if key is not None and key not in known:
        raise UsageError(f"{path} has no site {key!r}; `qindex sites list` shows all")


def _site(path: Path, key: str, options: object) -> Site:
    if not isinstance(options, Mapping):
        raise UsageError(f"{path}: site {key!r} needs options, at least start_url")
    values: dict[str, Any] = {str(name): value for name, value in options.items()}
    for name in _PATHS:
        if isinstance(values.get(name), str):
            values[name] = path.parent / values[name]
    if "key" in values:
        raise UsageError(f"{path}: site {key!r}: unknown option 'key'; the site's name is its key")
    try:
        return Site(key=key, **values)
    except ValidationError as error:
        raise UsageError(f"{path}: site {key!r}: {_first(error)}") from None
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


def _first(error: ValidationError) -> str:
    detail = error.errors()[0]
    name = ".".join(str(part) for part in detail["loc"])
    if detail["type"] == "extra_forbidden":
        close = difflib.get_close_matches(name, Site.model_fields, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        return f"unknown option {name!r}{hint}"
    return f"{name}: {detail['msg']}" if name else detail["msg"].removeprefix("Value error, ")


def add_site(path: Path, site: Site) -> None:
    """Add `site` to the file, keeping its comments; replace the options of a known key."""
    document = _read(path)
    if not document.get("sites"):
        document["sites"] = {}
    given = site.model_dump(exclude_defaults=True, exclude={"key"}, mode="json")
    for name in _PATHS:
        where: Path | None = getattr(site, name)
        if where is not None:
            given[name] = str(where.resolve())
    document["sites"][site.key] = given | {"max_pages": site.max_pages}
    _write(path, document)


def remove_site(path: Path, key: str) -> None:
    """Take a site out of the file. Raises UsageError when it is not in it."""
    document = _read(path)
    require_known(path, document.get("sites") or {}, key)
    del document["sites"][key]
    if not document["sites"]:
        # ruamel would write the comments of the last site before an unindented `{}`.
        document["sites"] = None
    _write(path, document)


def new_key(url: str, taken: Mapping[str, Site]) -> str:
    """The key of a new site: its host, a port as `-8000`, the first path segment when taken.

    A site that is in the file already under this start URL keeps its key. Raises UsageError when
    the address gives no key of its own.
    """
    for key, site in taken.items():
        if site.start_url == url:
            return key
    try:
        parts = urlsplit(url)
        key = (parts.hostname or "") + (f"-{parts.port}" if parts.port else "")
    except ValueError as error:
        raise UsageError(f"{url!r} is not an http(s) address: {error}") from None
    if key in taken:
        segment = next((part for part in parts.path.split("/") if part), "")
        key = f"{key}-{re.sub(r'[^a-z0-9.-]+', '-', segment.lower())}".strip("-")
    key = check_key(re.sub(r"[^a-z0-9.-]+", "-", key.lower())[:63].strip("-"))
    if key in taken:
        raise UsageError(f"site {key!r} is in the file already: name another one with --site")
    return key


def site_of(
    target: str,
    sites: Mapping[str, Site],
    *,
    key: str | None,
    max_pages: int | None,
    base_url: str | None,
    render: str | None = None,
) -> Site:
    """The site that `target`, an address or a folder, stands for.

    A site of the file keeps its options; what is given on the command line replaces them.

    Raises:
        UsageError: Neither an address nor a folder, or options that do not go together.
    """
    given: dict[str, Any] = {}
    if target.startswith(("http://", "https://")):
        if base_url is not None:
            raise UsageError("--base-url goes with a folder; an address is its own base")
        given["start_url"] = target
        key = key or new_key(target, sites)
    elif Path(target).is_dir():
        given["folder"] = Path(target).resolve()
        if base_url is not None:
            given["base_url"] = base_url
        key = key or _folder_key(given["folder"], base_url, sites)
    else:
        raise UsageError(f"{target!r} is neither an http(s) address nor a folder that exists")
    options = {"max_pages": max_pages, "render": render}
    given |= {name: value for name, value in options.items() if value is not None}
    kept = sites[key].model_dump(exclude_defaults=True) if key in sites else {}
    for name in ("start_url", "folder", "key"):
        kept.pop(name, None)
    try:
        return Site(key=key, **(kept | given))
    except ValueError as error:
        raise UsageError(f"{target}: {error}") from None


def _folder_key(folder: Path, base_url: str | None, taken: Mapping[str, Site]) -> str:
    """The key of a folder's site: the host of its base URL, else the folder's name."""
    key = new_key(base_url or f"http://{folder.name.lower()}/", {})
    if key in taken and taken[key].folder != folder:
        raise UsageError(f"site {key!r} is in the file already: name another one with --site")
    return key


def _read(path: Path) -> Any:
    if not path.exists():
        return {"sites": {}}
    try:
        document = YAML().load(path.read_text(encoding="utf-8"))
    except (YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" line {mark.line + 1}" if mark else ""
        raise UsageError(f"{path}{where} is not valid YAML; mend it or restore it") from None
    if document is None:
        return {"sites": {}}
    if not isinstance(document, Mapping) or "sites" not in document:
        raise UsageError(f"{path} must begin with `sites:`, then one key per site")
    return document


def _write(path: Path, document: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".tmp")
    with temporary.open("w", encoding="utf-8") as file:
        YAML().dump(document, file)
    temporary.replace(path)
