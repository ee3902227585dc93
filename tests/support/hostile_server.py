"""An endpoint on this machine that is broken, or out to harm: one reply for each way of it, over raw sockets.

An article that names a trick (`naming`) gets its reply; all other requests get an honest one.
"""

import contextlib
import gzip
import io
import itertools
import json
import re
import select
import socketserver
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from openai_server import FIRST, completion, serving

KEY = "sk-not-to-be-seen-0123456789"
TEXT = "Snow fell on Dover."
COUNTS = {"prompt_tokens": 100, "completion_tokens": 7}
_STATED = {"answered_by": "tiny-2026", "finish": "stop"}
_FOR_EVER = 3600.0


@dataclass(frozen=True)
class Trick:
    """What is sent, with floats for seconds of silence; and what is then told, or which text and extra are kept."""

    play: Callable[[], Iterable[bytes | float]]
    told: str = ""
    text: str = ""
    extra: dict[str, object] | None = None


def _http(body: bytes, status: str = "200 OK", length: int | str | None = None, **headers: str) -> bytes:
    fields = {"Content-Type": "application/json", "Content-Length": str(len(body) if length is None else length)}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode("latin-1") + body


def _says(body: object, told: str = "", text: str = "", extra: dict[str, object] | None = None) -> Trick:
    """A reply with status 200 and this body: JSON, or text that need be none."""
    raw = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
    return Trick(lambda: [_http(raw)], told, text, extra)


def _sends(raw: bytes, told: str) -> Trick:
    return Trick(lambda: [raw], told)


def _with_usage(usage: str, **counts: int) -> Trick:
    """A summary with these counts, as JSON; and those that are to be kept."""
    body = json.dumps(completion(TEXT, usage=None)).replace('"usage": null', f'"usage": {usage}')
    return _says(body, text=TEXT, extra={**_STATED, **counts})


def _with_content(content: str, told: str = "", text: str = "") -> Trick:
    """A summary whose text is this JSON."""
    extra = {**_STATED, **COUNTS} if text else None
    return _says(json.dumps(completion("?")).replace('"?"', content), told, text, extra)


def _busy(retry_after: str) -> Trick:
    return _sends(_http(b'{"error": {"message": "slow down"}}', "429 Too Many", Retry_After=retry_after), r"429: slow")


def _drip(head: bytes, piece: bytes, seconds: float = 0.02) -> Iterator[bytes | float]:
    yield head
    for _ in itertools.count():
        yield piece
        yield seconds


def _bomb() -> bytes:
    """100 MB of blanks before a summary, in half a megabyte."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=1) as file:
        for _ in range(100):
            file.write(b" " * 1_000_000)
        file.write(json.dumps(completion(TEXT)).encode())
    return packed.getvalue()


_CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
_UNFINISHED = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"
_LATE = r"no whole answer within"
_BROKEN = r"does not answer \(\w+Error"
_NO_JSON = r"sent no JSON"
_NO_COMPLETION = r"sent no chat completion"

SLOW = {
    "silence": Trick(lambda: [_FOR_EVER], _LATE),
    "slow-headers": Trick(lambda: _drip(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"a"), _LATE),
    "slow-body": Trick(lambda: _drip(_UNFINISHED, b" "), _LATE),
    "slow-chunks": Trick(lambda: _drip(_CHUNKED, b"1\r\n \r\n"), _LATE),
    "slow-refusal": Trick(lambda: _drip(_UNFINISHED.replace(b"200", b"401"), b" "), _LATE),
    "never-closed": Trick(
        lambda: [b"HTTP/1.1 200 OK\r\n\r\n", json.dumps(completion(TEXT)).encode(), _FOR_EVER], _LATE
    ),
    "informs-for-ever": Trick(lambda: _drip(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"), _LATE),
}
QUICK = {
    # Not what HTTP is.
    "hangs-up": Trick(lambda: [], _BROKEN),
    "other-protocol": _sends(b"220 mail.example ESMTP\r\n", _BROKEN),
    "no-status": _sends(b"HTTP/1.1 \r\n\r\n", _BROKEN),
    "length-too-long": _sends(_http(b"{}", length=9), _BROKEN),
    "length-too-short": _sends(_http(json.dumps(completion(TEXT)).encode(), length=9), _NO_JSON),
    "length-negative": _sends(_http(b"{}", length=-1), _BROKEN),
    "length-of-words": _sends(_http(b"{}", length="ten"), _BROKEN),
    "two-lengths": _sends(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 9\r\n\r\n{}", _BROKEN),
    "chunks-of-garbage": _sends(_CHUNKED + b"zz\r\n\x00\xff", _BROKEN),
    "chunk-too-large": _sends(_CHUNKED + b"ffffffffffffffffff\r\nabc", _BROKEN),
    "headers-for-ever": Trick(
        lambda: itertools.chain([b"HTTP/1.1 200 OK\r\n"], itertools.repeat(b"A: b\r\n" * 999)), _BROKEN
    ),
    "other-protocol-wanted": _sends(
        b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", "101|not an"
    ),
    "odd-status": _sends(_http(b"", "999 Odd"), "answered 999"),
    # Too much.
    "body-for-ever": Trick(
        lambda: itertools.chain([_UNFINISHED.replace(b"100000", b"9" * 12)], itertools.repeat(b" " * 65536)),
        "sent more than 4 MiB",
    ),
    "chunks-for-ever": Trick(
        lambda: itertools.chain([_CHUNKED], itertools.repeat(b"10000\r\n" + b" " * 65536 + b"\r\n")),
        "sent more than 4 MiB",
    ),
    "refusal-for-ever": Trick(
        lambda: itertools.chain(
            [_CHUNKED.replace(b"200 OK", b"401 No")], itertools.repeat(b"10000\r\n" + b"x" * 65536 + b"\r\n")
        ),
        "answered 401: xxx",
    ),
    "gzip-bomb": Trick(lambda: [_http(_bomb(), Content_Encoding="gzip")], r"has packed its answer \(gzip\)"),
    "bad-gzip": _sends(_http(b"\x1f\x8bnone", Content_Encoding="gzip"), r"has packed its answer \(gzip\)"),
    "packed-twice": _sends(_http(b"{}", Content_Encoding="br, zstd"), r"has packed its answer \(br, zstd\)"),
    "packed-refusal": _sends(_http(b"\x1f\x8bnone", "401 No", Content_Encoding="gzip"), r"answered 401\. Set OPENAI"),
    "text-too-long": _with_content(json.dumps("word " * 300_000), "wrote too much: A summary has"),
    "choices-by-the-thousand": _says(
        {**completion(TEXT), "choices": completion(TEXT)["choices"] * 1000}, text=TEXT, extra={**_STATED, **COUNTS}
    ),
    "long-names": _says(
        {**completion(TEXT, "f" * 100_000, model="m" * 100_000), "system_fingerprint": f"\n{'p' * 100_000}"},
        text=TEXT,
        extra={"answered_by": "m" * 200, "system_fingerprint": "p" * 200, "finish": "f" * 200, **COUNTS},
    ),
    # No JSON, or JSON that Python's reader does not take.
    "nothing": _says("", _NO_JSON),
    "html": _says("<html>", _NO_JSON),
    "no-utf-8": _says('{"choices": "é"}'.encode("latin-1"), _NO_JSON),
    "nested": _says("[" * 200_000, "nested too deeply"),
    "nested-and-closed": _says("[" * 200_000 + "]" * 200_000, "nested too deeply"),
    "nested-refusal": _sends(_http(b'{"error":' * 5_000, "400 Bad"), 'answered 400: {"error":'),
    "number-of-5000-digits": _says('{"usage": ' + "9" * 5000 + "}", r"sent no JSON \(Exceeds the limit"),
    # JSON of another shape.
    "null": _says("null", _NO_COMPLETION),
    "list": _says(["?"], _NO_COMPLETION),
    "choice-is-text": _says({"choices": [TEXT]}, _NO_COMPLETION),
    "content-is-a-list": _with_content(f'["{TEXT}"]', "content is list, not text"),
    "content-is-null": _with_content("null", r"wrote nothing \(finish_reason: stop\)"),
    "content-is-blank": _with_content('" \\n\\u2003"', "wrote nothing"),
    "names-are-no-text": _says(
        {
            "choices": [{"message": {"content": TEXT}, "finish_reason": ["stop"]}],
            "model": {"a": 1},
            "usage": [1, 2],
            "system_fingerprint": [1],
        },
        text=TEXT,
        extra={},
    ),
    # Counts that are none.
    "nan-tokens": _with_usage('{"prompt_tokens": NaN, "completion_tokens": 7}', completion_tokens=7),
    "infinite-tokens": _with_usage('{"prompt_tokens": Infinity, "completion_tokens": 1e999}'),
    "huge-tokens": _with_usage(f'{{"prompt_tokens": {10**400}, "completion_tokens": {2**63}}}'),
    "negative-tokens": _with_usage('{"prompt_tokens": -1, "completion_tokens": 0}', completion_tokens=0),
    "boolean-tokens": _with_usage('{"prompt_tokens": true, "completion_tokens": false}'),
    # Texts that no database keeps, and the key.
    "null-bytes": _with_content('"Snow\\u0000 fell."', text="Snow\ufffd fell."),
    "lone-surrogates": _with_content('"Snow\\ud800 \\ude00fell."', text="Snow\ufffd \ufffdfell."),
    "key": _says(
        {**completion(f"Snow {KEY} fell.", f"stop {KEY}", model=f"tiny {KEY}{KEY}"), "system_fingerprint": f"fp {KEY}"},
        text="Snow [key] fell.",
        extra={"answered_by": "tiny [key][key]", "system_fingerprint": "fp [key]", "finish": "stop [key]", **COUNTS},
    ),
    "key-in-headers": _sends(_http(b"no", f"400 {KEY}", X_Key=KEY, Location=KEY), "answered 400: no"),
    "key-in-refusal": _sends(_http(f'{{"error": "{"x" * 290} {KEY}"}}'.encode(), "400 Bad"), "answered 400: xxx"),
    "key-for-http": _sends(f"{KEY}\r\n\r\n".encode(), _BROKEN),
    # Refusals.
    "error-with-200": _says({"error": {"message": "model is overloaded", "code": 502}}, r"completion \(model is over"),
    "error-text-with-200": _says({"error": "quota", "choices": None}, r"completion \(quota"),
    "error-in-unknown-charset": _sends(
        _http(b"\xff no", "400 Bad", Content_Type="text/plain; charset=base64"), "400: \ufffd no"
    ),
    "no-content": _sends(b"HTTP/1.1 204 No Content\r\n\r\n", _NO_JSON),
    "redirect": _sends(_http(b"", "302 Found", Location="/elsewhere"), "answered 302. It sends requests elsewhere"),
    "redirect-that-keeps-post": _sends(_http(b"", "308 Moved", Location="/elsewhere"), "answered 308. It sends"),
    "busy": _sends(_http(b"busy", "503 Busy"), "answered 503: busy"),
    "busy-without-end": _busy("1e999"),
    "busy-before-now": _busy("-5"),
}
TRICKS = {**QUICK, **SLOW}


def naming(trick: str) -> str:
    """An article that gets the reply of a trick."""
    return f"The endpoint plays trick:{trick} on this article, and nobody knows why it does that."


class HostileServer(socketserver.ThreadingTCPServer):
    """Plays `TRICKS`.

    Attributes:
        honest: whether it plays none.
        paths: of all requests.
        played: how often each trick was played.
        open: how many connections there are.
    """

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.honest = False
        self.paths: set[str] = set()
        self.played: dict[str, int] = {}
        self.open = 0
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def replies(self, content: str) -> Iterable[bytes | float]:
        named = re.search(r"trick:(\S+)", content)
        if self.honest or content == FIRST or named is None:
            return [_http(json.dumps(completion(TEXT)).encode())]
        with self.lock:
            self.played[named[1]] = self.played.get(named[1], 0) + 1
        return TRICKS[named[1]].play()


class _Handler(socketserver.StreamRequestHandler):
    server: HostileServer

    def handle(self) -> None:
        if not (first := self.rfile.readline()):
            return
        path, length = first.split()[1].decode(), 0
        while line := self.rfile.readline().strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        body: Any = json.loads(self.rfile.read(length))
        with self.server.lock:
            self.server.paths.add(path)
        with contextlib.suppress(OSError):
            for piece in self.server.replies(body["messages"][0]["content"]):
                if isinstance(piece, bytes):
                    self.request.sendall(piece)
                elif self._is_left(piece):
                    break

    def setup(self) -> None:
        super().setup()
        with self.server.lock:
            self.server.open += 1

    def finish(self) -> None:
        super().finish()
        with self.server.lock:
            self.server.open -= 1

    def _is_left(self, seconds: float) -> bool:
        """Wait, or until the other side hangs up."""
        readable, _, _ = select.select([self.request], [], [], seconds)
        return bool(readable) and not self.request.recv(1)


def hostile_server() -> contextlib.AbstractContextManager[HostileServer]:
    return serving(HostileServer())


def eventually(holds: Callable[[], bool], seconds: float = 30.0) -> bool:
    """Whether it holds before that much time has gone by."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True
