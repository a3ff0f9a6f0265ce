"""What can be done for a page that lost: a question of people's own, a pin, a word, a repair."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from qindex_pipeline.explaining.model.facts import Section
from qindex_pipeline.explaining.verdicts.contest import Contest
from qindex_pipeline.explaining.verdicts.wording import quoted, words

_OF_OUTCOME: Mapping[str, str] = {
    "robots_disallowed": "Allow the path in the site's robots.txt.",
    "noindex": "Take `noindex` out of the page's robots directives.",
    "other_language": "Name the page's language in the site's option `languages`.",
    "out_of_scope": "Widen the site's options `allowed_hosts` or `path_prefixes`.",
    "out_of_scope_redirect": "Widen `allowed_hosts` or `path_prefixes` to where it redirects.",
    "js_required": "Set the site's option `render: auto`, which shows such pages in a browser.",
    "empty_content": "Write text on the page, or name where it is with `content_selector`.",
    "http_401": "Give the site's credentials in the sites file.",
    "http_403": "Give the site's credentials in the sites file.",
    "budget_exhausted": "Raise the site's limits in the sites file, then ingest again.",
}
"""By the outcome of its request; the others mend themselves, or the page has to be mended."""


def advice(contest: Contest) -> list[str]:
    """What would help a page that was found, the surest first; empty where nothing would."""
    found: list[str] = []
    if contest.is_filtered and contest.rejected is not None:
        section, asked = contest.rejected
        found.append(f"Pin {quoted(asked.question)} {_below(section)}: people's questions pass.")
    if contest.as_human is not None:
        found.append(
            f"Add what was asked as a question {_below(contest.own.section)}, with the words of "
            f"this section that answer it as evidence: it would then be at rank {contest.as_human}."
        )
    if contest.missing:
        found.append(
            f"Say {words(contest.missing)} in the section or its heading, where the text means it."
        )
    return found


def advice_for_outcome(outcome: str) -> list[str]:
    """What would help a page that was asked and is not stored."""
    return [
        _OF_OUTCOME.get(
            outcome,
            f"Mend what the outcome `{outcome}` says of the page, then ingest the site again.",
        )
    ]


def _below(section: Section) -> str:
    path = urlsplit(section.url).path or "/"
    return f"in {section.site}.yaml of the questions folder, below {path}"
