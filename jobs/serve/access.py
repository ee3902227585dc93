"""Who may read: this machine alone, or who has the token. And what a browser may do with what it got."""

import hmac
import ipaddress
import re
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from http.cookies import CookieError, SimpleCookie
from urllib.parse import quote, urlencode

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core.errors import RecipeError

_LEAST_TOKEN = 16
_TOKEN = re.compile(r"[A-Za-z0-9._~-]+")
_THIS_MACHINE = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?", re.IGNORECASE)
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
"""Of every response that has no other: a browser asks this server only, runs its scripts only, and keeps nothing."""


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a server that listens there."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def require_safe(host: str, token: str | None) -> None:
    """Refuse to be open to others without a token, and a token that can be guessed or typed in no URL.

    Raises:
        RecipeError: with what to do.
    """
    make = "make one with: openssl rand -hex 16"
    if token is None:
        if not is_loopback(host):
            raise RecipeError(
                f"At {host} others could read this store. Leave --host out to be read from this machine only, or set "
                f"a token (NWS_SERVE_TOKEN, or --token; {make})."
            )
        return
    if len(token) < _LEAST_TOKEN or not _TOKEN.fullmatch(token):
        raise RecipeError(
            f"The token must have at least {_LEAST_TOKEN} characters, all of them letters, digits, or one of -._~: "
            f"{make}"
        )


@dataclass(frozen=True, slots=True)
class Access:
    """The middleware that every request passes first.

    Without a token, the request must name this machine as its host: a page elsewhere whose name was made to lead here
    (DNS rebinding) sends its own name. With one, it must have the token: once in the URL (`?token=`), which sets a
    cookie, or in the header `Authorization: Bearer TOKEN`.

    Attributes:
        app: what comes next.
        token: that every request must have; None where only this machine reaches the server.
        port: where the server listens, by which its cookie is told from those of others on this machine.
    """

    app: ASGIApp
    token: str | None
    port: int

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        answer = self._refusal(Request(scope)) or self.app
        await answer(scope, receive, send_with_headers)

    def _refusal(self, request: Request) -> Response | None:
        if request.method not in ("GET", "HEAD"):
            return PlainTextResponse("This server is only read from.", 405, {"Allow": "GET, HEAD"})
        if (
            request.headers.get("sec-fetch-site") == "cross-site"
            and request.headers.get("sec-fetch-mode") != "navigate"
        ):
            return PlainTextResponse("Pages of other sites may not ask this server.", 403)
        if self.token is None:
            return None if _names_this_machine(request) else _wrong_host()
        given = request.query_params.get("token")
        if given is not None and _same(given, self.token):
            return self._let_in(request)
        return None if self._has_token(request) else _no_token()

    def _has_token(self, request: Request) -> bool:
        kind, _, bearer = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and _same(bearer.strip(), self.token or ""):
            return True
        try:
            cookie = SimpleCookie(request.headers.get("cookie", "")).get(self._cookie)
        except CookieError:
            return False
        return cookie is not None and _same(cookie.value, self._ticket)

    @property
    def _cookie(self) -> str:
        return f"nws_serve_{self.port}"

    @property
    def _ticket(self) -> str:
        """What the cookie holds: it lets in, and does not tell the token."""
        return hmac.new((self.token or "").encode(), b"nws serve", sha256).hexdigest()

    def _let_in(self, request: Request) -> Response:
        """Set the cookie, and go to the same page without the token in its address.

        By a page that goes on, since a browser that followed a link from elsewhere would send no strict cookie to
        where it is redirected.
        """
        rest = [(name, value) for name, value in request.query_params.multi_items() if name != "token"]
        path = "/" + quote(request.scope["path"]).lstrip("/")  # never another host
        target = escape(path + (f"?{urlencode(rest)}" if rest else ""))
        answer = HTMLResponse(
            '<!doctype html><html lang="en"><title>nws serve</title>'
            f'<meta http-equiv="refresh" content="0;url={target}">'
            f'<p><a href="{target}">Go on</a></p></html>'
        )
        answer.set_cookie(
            self._cookie,
            self._ticket,
            max_age=_COOKIE_SECONDS,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return answer


def _same(given: str, wanted: str) -> bool:
    """In a time that does not tell how much of it is right."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), wanted.encode())


def _names_this_machine(request: Request) -> bool:
    return _THIS_MACHINE.fullmatch(request.headers.get("host", "")) is not None


def _wrong_host() -> Response:
    return PlainTextResponse("This server is read as http://localhost or http://127.0.0.1 only.", 421)


def _no_token() -> Response:
    return PlainTextResponse(
        "This server asks for its token: open it once as /?token=TOKEN.", 401, {"WWW-Authenticate": "Bearer"}
    )
