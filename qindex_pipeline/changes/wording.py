"""A report as people read it: in a terminal, in a message, in Dagster's UI.

The three differ in how words of a page are kept from being more than words; see `escaping`.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from qindex_pipeline.changes.figures import counted, figure_lines
from qindex_pipeline.changes.pages import Row
from qindex_pipeline.crawl.outcomes import Outcome
from qindex_pipeline.escaping import Escape, address, as_message, as_plain

LIMIT = 4000
"""Characters of a message: what is longer is cut into several, or refused."""

_SHOWN = (10, 5, 3, 1)
"""Pages of each list that are shown, at most; the next number where the text gets too long."""
_SECTIONS = 3


def summary(row: Row) -> str:
    """What became of the pages, in one line: `1 page added, 2 gone`."""
    if row["is_first"]:
        return f"first report, {counted(row['pages'], 'page')}{_unknown_part(row, ', ')}"
    counts = [(len(row[name]), name) for name in ("added", "changed", "gone")]
    counts.append((len(row["recovered"]), "readable again"))
    parts = [f"{count} {name}" for count, name in counts if count]
    if parts:
        first, rest = parts[0].split(" ", 1)
        parts[0] = f"{counted(int(first), 'page')} {rest}"
    else:
        parts = ["no page changed"]
    return ", ".join(parts) + _unknown_part(row, ", ")


def report_text(row: Row, escape: Escape = as_plain) -> str:
    """The whole report, ten pages of each list; it begins with the site.

    Args:
        row: Row of the change_report table.
        escape: For words of a page.
    """
    return "\n".join(_lines(row, escape, _SHOWN[0]))


def message_text(row: Row, finish: Escape, hide: Escape = str) -> str:
    """The report as a message of at most 4,000 characters: its lists are shortened until it fits.

    Args:
        row: Row of the change_report table.
        finish: What is done to a text before it is sent, such as to escape HTML.
        hide: Takes out what must not be shown; before a title is cut or escaped, which would
            leave a part of a secret that nobody recognises.
    """
    text = ""
    for shown in _SHOWN:
        text = finish("\n".join(_lines(row, lambda words: as_message(hide(words)), shown)))
        if len(text) <= LIMIT:
            return text
    return f"{text[: LIMIT - 1]}…"


def _lines(row: Row, escape: Escape, shown: int) -> Iterator[str]:
    yield f"{row['site']}: {summary(row)}"
    since = f", compared with {_minute(row['since'])}" if row["since"] else ""
    yield f"{_minute(row['reported_at'])} UTC{since}"
    for name, title, line in _LISTS:
        pages = row[name]
        if pages:
            yield ""
            yield f"{title} ({len(pages)})"
            yield from (f"- {line(page, escape)}" for page in pages[:shown])
            if len(pages) > shown:
                yield f"- and {len(pages) - shown} more"
    yield ""
    yield "In all"
    yield from (f"- {line}" for line in figure_lines(row))
    if row["worst"]:
        yield ""
        yield "Fewest accepted questions"
        yield from (f"- {_worst(page, escape)}" for page in row["worst"][:shown])


def _name(page: Row, escape: Escape, detail: str = "") -> str:
    """A page's title, what is said of it, and its address."""
    return f"{escape(page['title'])}{f' ({detail})' if detail else ''} {address(page['url'])}"


def _changed(page: Row, escape: Escape) -> str:
    parts: list[str] = []
    if page["old_url"] is not None:
        parts.append(f"moved from {address(page['old_url'])}")
    if page["old_title"] is not None:
        parts.append(f"was “{escape(page['old_title'])}”")
    if page["chunks_added"] or page["chunks_removed"]:
        chunks = f"chunks +{page['chunks_added']} −{page['chunks_removed']}"
        parts.append(chunks + _sections(page["sections"], escape))
    return _name(page, escape, "; ".join(parts))


def _sections(names: Sequence[str], escape: Escape) -> str:
    if not names:
        return ""
    more = f" and {len(names) - _SECTIONS} more" if len(names) > _SECTIONS else ""
    return f" in {', '.join(f'“{escape(name)}”' for name in names[:_SECTIONS])}{more}"


def _gone(page: Row, escape: Escape) -> str:
    return _name(page, escape, _why(page["outcome"], page["status"]))


def _unknown(page: Row, escape: Escape) -> str:
    since = f" since {_day(page['since'])}" if page["since"] else ""
    content = f"content of {_day(page['read_at'])}" if page["read_at"] else "content of before"
    return _name(page, escape, f"{_why(page['outcome'], page['status'])}{since}; {content}")


def _worst(page: Row, escape: Escape) -> str:
    chunks = counted(page["chunks"], "chunk")
    if not page["proposed"]:
        return _name(page, escape, f"none proposed for {chunks}")
    reason = f", most rejected by {page['reason']}" if page["reason"] else ""
    counts = f"{page['accepted']} of {page['proposed']} for {chunks}"
    return _name(page, escape, counts + reason)


_LISTS: Sequence[tuple[str, str, Callable[[Row, Escape], str]]] = (
    ("added", "Added", _name),
    ("changed", "Changed", _changed),
    ("gone", "Gone", _gone),
    ("recovered", "Readable again", _name),
    ("unknown", "Not readable now, earlier content kept", _unknown),
)

_WHY: dict[str | None, str] = {
    None: "no longer found",
    Outcome.OUT_OF_SCOPE: "no longer one of the site's pages",
    Outcome.OUT_OF_SCOPE_REDIRECT: "redirects out of the site",
    Outcome.DUPLICATE_URL: "leads to another page",
    Outcome.DUPLICATE_CONTENT: "has another page's content",
    Outcome.ROBOTS_DISALLOWED: "forbidden by robots.txt",
    Outcome.BUDGET_EXHAUSTED: "not asked, the crawl was cut short",
    Outcome.SITE_UNAVAILABLE: "not asked, the site was down",
}


def _why(outcome: str | None, status: int | None) -> str:
    if outcome is not None and outcome.startswith("http_"):
        return f"HTTP {status}" if status else outcome.replace("http_", "HTTP ")
    return _WHY.get(outcome) or str(outcome).replace("_", " ")


def _unknown_part(row: Row, before: str) -> str:
    count, new = len(row["unknown"]), sum(page["is_new"] for page in row["unknown"])
    if not count:
        return ""
    return f"{before}{count} not readable" + (f" ({new} of them new)" if 0 < new < count else "")


def _minute(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M}"


def _day(time: datetime) -> str:
    return f"{time:%Y-%m-%d}"
