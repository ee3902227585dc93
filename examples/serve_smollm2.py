"""SmolLM2 behind OpenAI's chat API, on this machine alone: an endpoint that costs nothing, to try NWS's settings on.

    python examples/serve_smollm2.py            # says its URL, and answers until Ctrl-C
    export OPENAI_BASE_URL=http://127.0.0.1:8000/v1
    nws submit baselines --system lead --system openai:smollm2 --n 5,9

It answers one request at a time, so it is no server to work with: for that take vLLM, llama.cpp or Ollama. Of a
request it reads `messages`, `temperature`, `seed` and `max_tokens`. The same request gets the same answer.
"""

import argparse
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from nws.core.models import SMOLLM2, SMOLLM2_VERSION, smollm2_folder

PATH = "/v1/chat/completions"


class ChatModel:
    """A language model that goes on with a conversation."""

    def __init__(self) -> None:
        folder = smollm2_folder()
        self._tokenizer = AutoTokenizer.from_pretrained(folder)
        self._model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        self._lock = threading.Lock()

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The chat completion of a request."""
        asked = self._tokenizer.apply_chat_template(
            request["messages"], add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        read, most = asked["input_ids"].shape[1], int(request.get("max_tokens") or 256)
        temperature = float(request.get("temperature") or 0)
        drawing = {"do_sample": True, "temperature": temperature, "top_k": 0} if temperature else {"do_sample": False}
        with self._lock, torch.inference_mode():
            torch.manual_seed(int(request.get("seed") or 0))
            written = self._model.generate(**asked, **drawing, max_new_tokens=most)[0, read:]
        text = self._tokenizer.decode(written, skip_special_tokens=True)
        finish = "length" if len(written) == most else "stop"
        return {
            "id": "chatcmpl-0",
            "object": "chat.completion",
            "model": f"{SMOLLM2}@{SMOLLM2_VERSION}",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}],
            "usage": {"prompt_tokens": read, "completion_tokens": len(written)},
        }


class ChatServer(ThreadingHTTPServer):
    """Answers on this machine; with port 0, at any that is free.

    Attributes:
        asked: how many requests it has answered.
    """

    daemon_threads = True

    def __init__(self, model: ChatModel, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.model = model
        self.asked = 0

    @property
    def url(self) -> str:
        """What OPENAI_BASE_URL has to be."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: ChatServer

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        found = self.path == PATH
        answer = self.server.model.answer(request) if found else {"error": {"message": f"There is no {self.path}."}}
        self.server.asked += found
        body = json.dumps(answer).encode()
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Requests are not logged."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--port", type=int, default=8000)
    server = ChatServer(ChatModel(), parser.parse_args().port)
    print(f"export OPENAI_BASE_URL={server.url}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
