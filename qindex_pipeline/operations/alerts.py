"""What people are told when nobody is looking: one text to an incoming webhook.

The body `{"text": …}` is what Slack, Mattermost and Teams take. A text names sites, checks and
runs, and never a secret. No Dagster in here.
"""

import html
import http.client
import json
import os
import re
import time
import urllib.error
import urllib.request
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from pydantic import SecretStr

from qindex_pipeline.errors import WorkError
from qindex_pipeline.settings import Settings
from qindex_pipeline.sites import Site

TIMEOUT = 4.0
"""Seconds of one attempt. A tick posts up to five alerts and may take 60 s in all."""

PAUSES = (1.0,)
"""Seconds before each further attempt."""

_CALL = re.compile(r"@(?=(?:all|channel|everyone|here)\b)")

LINE, LINES = 400, 10
"""Characters of a description and checks of an alert, at most: a text beyond 4,000 is refused."""


@dataclass(frozen=True)
class FailedCheck:
    """A check that failed: an error or a warning."""

    name: str
    is_error: bool
    description: str


@dataclass(frozen=True)
class Alert:
    """What happened in a run; `failure` says why it failed, None that it did not."""

    site: str | None
    job: str
    run_id: str
    failure: str | None
    is_retried: bool
    checks: tuple[FailedCheck, ...]

    @property
    def is_error(self) -> bool:
        """Whether somebody has to act now."""
        return self.failure is not None or any(check.is_error for check in self.checks)


def alert_text(alert: Alert, webserver_url: str | None, secrets: Collection[str] = ()) -> str:
    """The lines of an alert: its weight and site, why, each check, and the run.

    Args:
        alert: What happened.
        webserver_url: Of the UI, for a link to the run.
        secrets: What must not be shown, wherever it came from.
    """
    what = "failed" if alert.failure is not None else "ended with failed checks"
    if alert.is_retried:
        what += " and is tried once more"
    lines = [f"{_weight(alert.is_error)} {alert.site or 'all sites'}: {alert.job} {what}"]
    said = {check.description for check in alert.checks}
    if alert.failure is not None and alert.failure not in said:
        lines.append(alert.failure[:LINE])
    for check in alert.checks[:LINES]:
        lines.append(f"{_weight(check.is_error)} {check.name}: {check.description[:LINE]}")
    if len(alert.checks) > LINES:
        lines.append(f"and {len(alert.checks) - LINES} more checks")
    lines.append(run_line(alert.run_id, webserver_url))
    return harmless("\n".join(lines), secrets)


def run_line(run_id: str, webserver_url: str | None) -> str:
    """The run, with a link to it where the address of the UI is known."""
    link = f": {webserver_url.rstrip('/')}/runs/{run_id}" if webserver_url else ""
    return f"run {run_id}{link}"


def harmless(text: str, secrets: Collection[str] = ()) -> str:
    """The text without the secrets, and without signs that mean something to who shows it."""
    # A page's words may stand in it: they must not call a channel (<!here>, @channel).
    return html.escape(_CALL.sub("@\u200b", masked(text, secrets)), quote=False)


def masked(text: str, secrets: Collection[str]) -> str:
    """The text without the secrets."""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, "***")
    return text


def secrets_of(
    settings: Settings, sites: Iterable[Site], environment: Mapping[str, str] = os.environ
) -> set[str]:
    """What must not be shown: the secrets of the settings and those that the sites name."""
    values: list[object] = [getattr(settings, name) for name in type(settings).model_fields]
    found = {value.get_secret_value() for value in values if isinstance(value, SecretStr)}
    for site in sites:
        named = (*site.headers_from_env.values(), site.basic_auth_from_env, site.cookies_from_env)
        found |= {environment.get(name, "") for name in named if name is not None}
    return found


def post(url: SecretStr, text: str) -> None:
    """Send the text, once more when nobody answered or the service was busy.

    Raises WorkError, which does not show the address: whoever has it may post.
    """
    for pause in (*PAUSES, None):
        problem, may_heal = _post(url.get_secret_value(), text)
        if problem is None:
            return
        if pause is None or not may_heal:
            raise WorkError(f"the webhook {problem}: is QINDEX_WEBHOOK_URL right? Lost:\n{text}")
        time.sleep(pause)


def _post(url: str, text: str) -> tuple[str | None, bool]:
    """What went wrong, if anything, and whether it may heal."""
    body, headers = json.dumps({"text": text}).encode(), {"Content-Type": "application/json"}
    request = urllib.request.Request(url, body, headers)  # noqa: S310 - settings take http(s) only
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT):  # noqa: S310 - as above
            return None, False
    except urllib.error.HTTPError as error:
        error.close()
        return f"answered HTTP {error.code}", error.code == 429 or error.code >= 500
    except (OSError, http.client.HTTPException, ValueError) as error:
        return f"cannot be reached ({type(error).__name__})", True


def _weight(is_error: bool) -> str:
    return "ERROR" if is_error else "WARNING"
