"""Requests over real sockets, to a server on this machine."""

import logging
import threading
import traceback
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from openai_server import OpenAiServer, Reply, completion, openai_server, retry_at_once

from core.errors import EndpointError, RecipeError
from core.models.endpoint import Endpoint, default_url
from core.models.endpoint_requests import LoadedEndpoint, Question
from core.models.generators import PromptTemplate

KEY = "sk-not-to-be-seen-0123456789"
PROMPT = PromptTemplate("In {n} words:\n\n{article}")
TEXT = "Snow fell on Dover and closed every school of the town."


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAiServer]:
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\n")
    retry_at_once(monkeypatch)
    with openai_server() as running:
        yield running


def load(server: OpenAiServer, **changes: Any) -> LoadedEndpoint:
    return LoadedEndpoint(Endpoint("tiny", server.url, **{"prompt": PROMPT, **changes}), seed=3)


def test_what_is_sent_and_what_is_kept(server: OpenAiServer) -> None:
    loaded = load(server)
    short, long = loaded([TEXT, TEXT], [0, 0], [2, 5])
    assert (short.text, long.text) == ("Snow fell on Dover", "Snow fell on Dover and closed every")
    counted = {"requests": 1, "prompt_tokens": 100, "completion_tokens": 7}
    assert short.extra == {"answered_by": "tiny-2026", "finish": "stop"} | counted
    assert loaded.tokens == 2 * 107
    asked = {body["messages"][0]["content"]: body for body in server.asked}
    assert asked[f"In 2 words:\n\n{TEXT}"] == {
        "model": "tiny",
        "messages": [{"role": "user", "content": f"In 2 words:\n\n{TEXT}"}],
        "temperature": 0,
        "seed": 3,
        "max_tokens": 48,
    }
    assert set(server.keys) == {f"Bearer {KEY}"}
    assert server.greetings == 1


MISTRAL = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}, {"type": "text", "text": "Snow fell."}]
RAISE = r" \(finish_reason: \w+\)\. Raise max_tokens under `parameters`"


@pytest.mark.parametrize(
    ("content", "finish", "told"),
    [
        *((text, "stop", "") for text in ("<think>\nHm.\n</think>\n\nSnow\nfell.", MISTRAL)),
        *(("<think>\nHm", finish, f"ended within its thoughts{RAISE}") for finish in ("length", None)),
        *((None, "length", f"wrote nothing{RAISE}"), ("<think>Hm.</think>", "stop", r"wrote nothing \(.*: stop\)\.$")),
    ],
)
def test_thoughts_are_no_summary(server: OpenAiServer, content: Any, finish: Any, told: str) -> None:
    server.script.extend([Reply(200, completion(content, finish)), Reply(200, completion("<think>Hm", "length"))])
    loaded = load(server)
    if told:
        with pytest.raises(EndpointError, match=told):
            loaded([TEXT], [0], [2])
        return
    (answer,) = loaded([TEXT], [0], [2])
    assert (answer.text, answer.extra.get("raw_text", MISTRAL)) == ("Snow fell.", content)
    assert load(server, clean_outputs=())([TEXT], [0], [2])[0].text == "<think>Hm"


def test_an_endpoint_that_needs_no_key_gets_none(server: OpenAiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    load(server)([TEXT], [0], [2])
    assert set(server.keys) == {None}


def test_as_many_requests_as_allowed_are_under_way_at_once(server: OpenAiServer) -> None:
    """Four at a time: with fewer, the handlers would wait for each other in vain, and with more one would be left."""
    server.together = threading.Barrier(4)
    written = load(server, concurrency=4)([f"{i} {TEXT}" for i in range(8)], [0] * 8, [1] * 8)
    assert [answer.text.split()[0] for answer in written] == list("01234567")
    assert server.together.n_waiting == 0


@pytest.mark.parametrize(
    ("reply", "pause"),
    [
        (Reply(429, {"error": {"message": "slow down"}}, {"Retry-After": "7"}), 7),
        (Reply(503, b"busy"), 0),
        (Reply(500, {"error": "oops"}), 0),
        (Reply(0), 0),
    ],
    ids=["too many", "busy", "error", "hangs up"],
)
def test_what_may_pass_is_tried_again(
    server: OpenAiServer, monkeypatch: pytest.MonkeyPatch, reply: Reply, pause: float
) -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr("openai._base_client.anyio.sleep", sleep)
    loaded = load(server)
    server.script.extend([reply] * 3)
    assert loaded([TEXT], [0], [2])[0].text == "Snow fell on Dover"
    assert (len(server.asked), pauses) == (4, [pause] * 3)
    server.script.extend([reply] * 4)
    with pytest.raises(EndpointError, match=r"The endpoint http://127.*/v1, asked by .* for tiny, (answered|does not)"):
        loaded(["Another."], [0], [2])
    assert len(server.asked) == 8, "that was the last attempt"


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (
            Reply(401, {"error": {"message": f"Wrong key {KEY}."}}),
            r"answered 401: Wrong key \[key\]\. Set OPENAI_API_KEY",
        ),
        (Reply(403, b"forbidden"), "answered 403: forbidden. Set OPENAI_API_KEY to a key that may"),
        (Reply(404, {"error": {"message": "no model tiny"}}), r"answered 404: no model tiny\. Is the model named as"),
        (Reply(400, {"error": {"message": "x" * 280 + KEY}}), "answered 400: xxx"),
        (Reply(200, b"<html>"), "sent no JSON"),
    ],
)
def test_a_refusal_ends_it_before_any_article(server: OpenAiServer, reply: Reply, told: str) -> None:
    server.first = reply
    with pytest.raises(EndpointError, match=told) as caught:
        load(server)
    assert "sk-" not in str(caught.value)
    assert (server.greetings, server.asked) == (1, [])


@pytest.mark.parametrize("key", ["sk two", "sk-\x07", "sk-é"])
def test_what_is_no_key_is_refused_unseen(key: str, server: OpenAiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(EndpointError, match="OPENAI_API_KEY is no key") as caught:
        load(server)
    assert key not in str(caught.value)


def test_the_key_is_in_no_log(server: OpenAiServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server.scripted["bad"] = Reply(400, {"error": {"message": KEY}})
    loaded = load(server)
    with pytest.raises(EndpointError, match=r"answered 400: \[key\]") as caught:
        loaded(["bad"], [0], [2])
    (answer,) = loaded.ask([Question("bad", 5)])
    assert isinstance(answer, EndpointError)
    for error in (caught.value, answer):
        assert KEY not in "".join(traceback.format_exception(error))
    assert caplog.records
    assert KEY not in caplog.text
    assert KEY not in repr(loaded._endpoint)


def test_where_an_endpoint_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://gpu-box:8000/v1")
    assert default_url() == "http://gpu-box:8000/v1"
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert default_url() == "https://api.openai.com/v1"
    secret = ("http://me:secret@box/v1", "https://box/v1?key=secret")
    for url in ("gpu-box:8000", "ftp://gpu-box", "", "http://[::1", "http://host:port/v1", *secret):
        with pytest.raises(RecipeError, match="base URL of an endpoint") as caught:
            Endpoint("tiny", url)
        assert "secret" not in str(caught.value)


def test_what_decides_a_text_is_in_what_it_is_recorded_as() -> None:
    one = Endpoint("tiny", "http://a/v1", PROMPT)
    other_prompt = PromptTemplate("{n} words:\n\n{article}")
    changes = ({"model": "other"}, {"url": "http://b/v1"}, {"prompt": other_prompt})
    several = [one, *(replace(one, **change) for change in changes)]
    assert len({endpoint.revision for endpoint in several}) == len({*map(repr, several)}) == 4
    assert repr(replace(one, concurrency=1)) == repr(one), "rows are copied all the same"
