"""What every reply of the page's server says to browsers, and which requests it turns away.

The server has no login. On a loopback address it is safe from the network but not from the other
pages that its user's browser shows: those could reach it by a name that resolves to loopback
(DNS rebinding), or make the browser ask questions, which cost money with some models.
"""

import ipaddress
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "[::1]", "::1")

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name
        return False


class Guard:
    """ASGI middleware: the headers above on every reply, nothing for another site's page."""

    def __init__(self, app: "ASGIApp") -> None:
        """Stand before `app`."""
        self._app = app

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Pass the request on, or turn it away with status 403."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: "Message") -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if _is_foreign(Headers(scope=scope)):
            reply = JSONResponse({"error": "another site's page may not ask here"}, 403)
            await reply(scope, receive, send_with_headers)
        else:
            await self._app(scope, receive, send_with_headers)


def _is_foreign(headers: Headers) -> bool:
    """Whether a browser sends this for another site's page, other than by following a link.

    Programs that are no browsers send none of these headers.
    """
    by = headers.get("sec-fetch-site", "none")
    return by not in {"same-origin", "none"} and headers.get("sec-fetch-dest") != "document"
