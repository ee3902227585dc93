"""A small server on this machine that takes uploads as the Hugging Face Hub does."""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from openai_server import serving


@dataclass
class FakeHub:
    """What was asked of it, and what it has.

    Attributes:
        endpoint: its address.
        files: by repository and path.
        private: by repository.
        tokens: that requests came with.
        refuses: the status and message with which it answers everything; None where it takes what comes.
        bad_card: what it says of the metadata of a model card; None where it likes them.
    """

    endpoint: str = ""
    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    private: dict[str, bool] = field(default_factory=dict)
    tokens: set[str] = field(default_factory=set)
    refuses: tuple[int, str] | None = None
    bad_card: str | None = None

    def answer(self, path: str, body: bytes) -> tuple[int, dict[str, object]]:
        if self.refuses is not None:
            return self.refuses[0], {"error": self.refuses[1]}
        if path == "/api/repos/create":
            asked = json.loads(body)
            name = f"{asked.get('organization') or 'ann'}/{asked['name']}"
            self.private[name] = asked.get("visibility") == "private" or asked.get("private", False)
            self.files.setdefault(name, {})
            return 200, {"url": f"{self.endpoint}/{name}", "name": name}
        if path == "/api/validate-yaml":
            errors = [{"message": self.bad_card}] if self.bad_card else []
            return (400 if errors else 200), {"errors": errors, "warnings": []}
        repository, _, action = path.removeprefix("/api/models/").rpartition("/main")[0].rpartition("/")
        if action == "preupload":
            return 200, {
                "files": [
                    {"path": one["path"], "uploadMode": "regular", "shouldIgnore": False, "oid": None}
                    for one in json.loads(body)["files"]
                ]
            }
        for line in map(json.loads, body.splitlines()):
            if line["key"] == "file":
                self.files[repository][line["value"]["path"]] = base64.b64decode(line["value"]["content"])
        url = f"{self.endpoint}/{repository}/commit/{'0' * 40}"
        return 200, {"success": True, "commitUrl": url, "commitOid": "0" * 40, "hookOutput": "", "pullRequestUrl": None}


@contextmanager
def fake_hub() -> Iterator[FakeHub]:
    hub = FakeHub()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"] or 0))
            hub.tokens.add(self.headers["authorization"] or "")
            status, answer = hub.answer(self.path.partition("?")[0], body)
            content = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as server:
        hub.endpoint = f"http://127.0.0.1:{server.server_port}"
        yield hub
