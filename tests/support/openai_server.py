"""An endpoint on this machine that speaks as OpenAI's does, and remembers what it was asked."""

import contextlib
import json
import re
import socketserver
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar

import pytest

from nws.core.article import Article
from nws.core.errors import EndpointError
from nws.core.models.endpoint import EndpointAnswer
from nws.core.models.endpoint_requests import LoadedEndpoint

Server = TypeVar("Server", bound=socketserver.BaseServer)
FIRST = "Hello"
"""What is asked before any article."""


@dataclass(frozen=True)
class Reply:
    """What it says in place of a summary; with status 0 it hangs up."""

    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


def completion(text: str | None, finish: str = "stop", **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    usage = {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}
    return {"id": "x", "object": "chat.completion", "model": "tiny-2026", "choices": [choice], "usage": usage, **more}


class OpenAiServer(ThreadingHTTPServer):
    """Writes two words more than it is asked for, the article's own.

    Attributes:
        asked: the bodies of all requests, in the order in which they came, but the first of each process.
        keys: the `Authorization` of every request, None where there was none.
        script: what it says first, one for each request that names an article.
        scripted: what it says to articles with these words, always.
        model: what it says has answered; None where it does not say.
        fingerprint: its `system_fingerprint`; None where it does not say.
        writes: what it writes where it is no summary, by what it was asked.
        together: what the handlers of articles wait for, so that several are under way at once.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.greetings = 0
        self.model: str | None = "tiny-2026"
        self.fingerprint: str | None = None
        self.first: Reply | None = None
        self.script: deque[Reply] = deque()
        self.scripted: dict[str, Reply] = {}
        self.writes: Callable[[str], str] | None = None
        self.together: threading.Barrier | None = None
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def answer(self, content: str) -> Reply:
        return _summary(content) if self.writes is None else Reply(200, completion(self.writes(content)))


class _Handler(BaseHTTPRequestHandler):
    server: OpenAiServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        content = body["messages"][0]["content"]
        server = self.server
        with server.lock:
            server.keys.append(self.headers.get("Authorization"))
            if self.path != "/v1/chat/completions":
                reply = Reply(404, {"error": {"message": f"no {self.path}"}})
            elif content == FIRST:
                server.greetings += 1
                reply = server.first or Reply(200, completion("Hello!"))
            else:
                server.asked.append(body)
                always = [reply for words, reply in server.scripted.items() if words in content]
                reply = always[0] if always else server.script.popleft() if server.script else server.answer(content)
        if content != FIRST and server.together is not None:
            server.together.wait(timeout=30)
        if isinstance(reply.body, dict) and "model" in reply.body:
            said = {"model": server.model, "system_fingerprint": server.fingerprint}
            reply = replace(reply, body={**reply.body, **said})
        self._send(reply)

    def _send(self, reply: Reply) -> None:
        self.close_connection = True
        if reply.status == 0:
            return
        body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        self.send_response(reply.status)
        for name, value in {"Content-Length": str(len(body)), "Connection": "close", **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


def written(loaded: LoadedEndpoint, text: str, *lengths: int) -> list[EndpointAnswer]:
    """The summaries of a text of these lengths; raises the first error."""
    article = Article("d", "test", "key", text, ("A reference.",))
    ((_, found),) = filter(None, loaded.write([(article, lengths)]))
    for answer in found.values():
        if isinstance(answer, EndpointError):
            raise answer
    return [answer for answer in found.values() if isinstance(answer, EndpointAnswer)]


def _summary(content: str) -> Reply:
    asked, article = re.search(r"(\d+) words", content), max(content.split("\n\n"), key=len)
    words = article.split()[: int(asked[1]) + 2 if asked else 5]
    return Reply(200, completion(" ".join(words)))


@contextlib.contextmanager
def serving(server: Server) -> Iterator[Server]:
    """The server, while it answers in a thread of its own."""
    with server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def retry_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the client of `openai` make no pause before it sends a request again, unless the endpoint asks for one."""
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.0)


def openai_server() -> contextlib.AbstractContextManager[OpenAiServer]:
    return serving(OpenAiServer())
