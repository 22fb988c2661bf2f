"""Guard that keeps other pages out of a web server of one's own machine.

Any page that a browser shows can send requests to 127.0.0.1, and servers here ask for no name. No page can
change what a browser says of a request's origin: `Host`, `Origin` (RFC 6454) and `Sec-Fetch-*` (Fetch
Metadata). Programs such as curl send `Host` alone.
"""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

# A page of another host whose name is made to mean 127.0.0.1 (DNS rebinding) is of the server's own origin to
# a browser: only the name tells.
HOSTS = ("127.0.0.1", "localhost")
_POLICY_VIOLATION = 1008  # of a web socket: RFC 6455, 7.4.1


class Guard:
    """ASGI middleware: answers 403 to what comes from other pages."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and _is_foreign(scope):
            await refuse(scope, receive, send, 403, "This request comes from another page, and is refused.")
        else:
            await self.app(scope, receive, send)


GUARDS = (Middleware(TrustedHostMiddleware, allowed_hosts=list(HOSTS)), Middleware(Guard))


def _is_foreign(scope: Scope) -> bool:
    """True if a page that is not the server's own sent this. Links from other pages may be followed."""
    headers = Headers(scope=scope)
    origin = headers.get("origin")
    if origin is not None and origin.partition("://")[2] != headers.get("host"):
        return True
    # Another port of this machine is the same site, but not the same origin
    if headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
        return False
    is_link = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return not (is_link and scope.get("method") == "GET")


async def refuse(scope: Scope, receive: Receive, send: Send, status: int, text: str) -> None:
    """Answer a request, or the handshake of a web socket, with a status and a text."""
    if scope["type"] == "websocket":  # before it is accepted, this becomes an answer 403
        await send({"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": text})
        return
    await PlainTextResponse(text, status)(scope, receive, send)
