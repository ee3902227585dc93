"""Access to the server: who may read it, and what a browser may do with its pages."""

import hmac
import re
from hashlib import sha256
from html import escape
from urllib.parse import quote

from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nws.core.errors import RecipeError

_OWN_HOSTS = ("localhost", "127.0.0.1", "::1")
_LEAST_TOKEN = 16
_TOKEN = re.compile(r"[A-Za-z0-9._~-]+")
_COOKIE_SECONDS = 30 * 24 * 3600
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Headers of responses that set no others: a browser asks this server only, runs its scripts only, keeps nothing."""


def require_safe(host: str, token: str | None) -> None:
    """Refuse to be open to others without a token, and a token that can be guessed or typed in no URL.

    Raises:
        RecipeError: with what to do.
    """
    make = "make one with: openssl rand -hex 16"
    if token is None:
        if host not in _OWN_HOSTS:
            raise RecipeError(
                f"With --host {host}, others could read this store. Leave --host out, and only this machine can; or "
                f"set a token (NWS_SERVE_TOKEN, or --token; {make})."
            )
        return
    if len(token) < _LEAST_TOKEN or not _TOKEN.fullmatch(token):
        raise RecipeError(
            f"The token must have at least {_LEAST_TOKEN} characters, all of them letters, digits, or one of -._~: "
            f"{make}"
        )


def middleware(token: str | None, port: int) -> list[Middleware]:
    """List what every request passes first.

    Without a token, it must name this machine as its host: a page elsewhere whose name was made to lead here (DNS
    rebinding) sends its own name. `port` is where the server listens.
    """
    hosts = ["localhost", "127.0.0.1", "[::1]"] if token is None else ["*"]
    return [Middleware(Access, token=token, port=port), Middleware(TrustedHostMiddleware, allowed_hosts=hosts)]


class Access:
    """Lets a request pass that has the token, if there is one, and adds `HEADERS` to every response.

    The token is given once in the URL (`?token=`), which sets a cookie, or in the header `Authorization: Bearer TOKEN`.
    The cookie is told by the port from those of other servers on this machine. It holds no token.
    """

    def __init__(self, app: ASGIApp, token: str | None, port: int) -> None:
        self._app = app
        self._token = token
        self._cookie = f"nws_serve_{port}"
        self._ticket = hmac.new((token or "").encode(), b"nws serve", sha256).hexdigest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        answer = self._refusal_or_login(Request(scope)) or self._app
        await answer(scope, receive, send_with_headers)

    def _refusal_or_login(self, request: Request) -> Response | None:
        site, mode = (request.headers.get(f"sec-fetch-{name}") for name in ("site", "mode"))
        if site == "cross-site" and mode != "navigate":
            return PlainTextResponse("Pages of other sites may not send requests to this server.", 403)
        if self._token is None:
            return None
        if _is_equal(request.query_params.get("token", ""), self._token):
            return self._log_in(request)
        kind, _, bearer = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and _is_equal(bearer.strip(), self._token):
            return None
        if _is_equal(request.cookies.get(self._cookie, ""), self._ticket):
            return None
        message = "This server needs a token: open it once as /?token=TOKEN."
        return PlainTextResponse(message, 401, {"WWW-Authenticate": "Bearer"})

    def _log_in(self, request: Request) -> Response:
        """Set the cookie, and go to the same page without the token in its address.

        By a page that goes on, since a browser that followed a link from elsewhere would send no strict cookie to
        where it is redirected.
        """
        url = request.url.remove_query_params("token")
        path = "/" + quote(request.scope["path"]).lstrip("/")  # never another host
        target = escape(path + (f"?{url.query}" if url.query else ""))
        answer = HTMLResponse(
            '<!doctype html><html lang="en"><title>nws serve</title>'
            f'<meta http-equiv="refresh" content="0;url={target}"><p><a href="{target}">Go on</a></p></html>'
        )
        answer.set_cookie(self._cookie, self._ticket, _COOKIE_SECONDS, httponly=True, samesite="strict")
        return answer


def _is_equal(given: str, wanted: str) -> bool:
    """Compare two texts in a time that does not tell how much of `given` is right."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), wanted.encode())
