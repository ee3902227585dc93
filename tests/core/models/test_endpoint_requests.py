"""Requests over real sockets, to a server on this machine."""

import logging
import threading
import traceback
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from openai_server import OpenAiServer, Reply, completion, openai_server, retry_at_once, written

from nws.core.article import Article
from nws.core.errors import EndpointError, RecipeError
from nws.core.models.endpoint import Endpoint, Question, default_url
from nws.core.models.endpoint_requests import LoadedEndpoint
from nws.core.models.generators import PromptTemplate

KEY = "sk-not-to-be-seen-0123456789"
PROMPT = PromptTemplate("In {n} words:\n\n{article}")
TEXT = "Snow fell on Dover and closed every school of the town."
SEED = Endpoint("tiny", "http://a", PROMPT).question(TEXT, 2, 3).seed


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
    short, long = written(loaded, TEXT, 2, 5)
    assert (short.text, long.text) == ("Snow fell on Dover", "Snow fell on Dover and closed every")
    counted = {"requests": 1, "prompt_tokens": 100, "completion_tokens": 7, "drafts": 0, "words_first": 4}
    assert short.extra == {"answered_by": "tiny-2026", "finish": "stop"} | counted
    asked = {body["messages"][0]["content"]: body for body in server.asked}
    assert asked[f"In 2 words:\n\n{TEXT}"] == {
        "model": "tiny",
        "messages": [{"role": "user", "content": f"In 2 words:\n\n{TEXT}"}],
        "temperature": 0,
        "seed": SEED,
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
            written(loaded, TEXT, 2)
        return
    (answer,) = written(loaded, TEXT, 2)
    assert (answer.text, answer.extra.get("raw_text", MISTRAL)) == ("Snow fell.", content)
    assert written(load(server, clean_outputs=()), TEXT, 2)[0].text == "<think>Hm"


def test_an_endpoint_that_needs_no_key_gets_none(server: OpenAiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    written(load(server), TEXT, 2)
    assert set(server.keys) == {None}


def test_as_many_requests_as_allowed_are_under_way_at_once(server: OpenAiServer) -> None:
    """Four at a time: with fewer, the handlers would wait for each other in vain, and with more one would be left."""
    server.together = threading.Barrier(4)
    articles = [Article("d", "test", str(i), f"{i} {TEXT}", ("A reference.",)) for i in range(8)]
    found = filter(None, load(server, concurrency=4).write((article, [1]) for article in articles))
    assert sorted(answers[1].text.split()[0] for _, answers in found) == list("01234567")
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
    assert written(loaded, TEXT, 2)[0].text == "Snow fell on Dover"
    assert (len(server.asked), pauses) == (4, [pause] * 3)
    server.script.extend([reply] * 4)
    with pytest.raises(EndpointError, match=r"The endpoint http://127.*/v1, asked by .* for tiny, (answered|does not)"):
        written(loaded, "Another.", 2)
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
        (Reply(200, b"<html>"), r"sent no JSON \(.*\)\. Is the base URL whole \(it often ends in /v1\)\?"),
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
        written(loaded, "bad", 2)
    (answer,) = loaded.ask([Question("bad", 5, 3)])
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
    warm = {"parameters": {"top_p": 0.5, "temperature": 1}}
    changes = ({"model": "other"}, {"url": "http://b/v1"}, {"prompt": other_prompt}, warm)
    several = [one, *(replace(one, **change) for change in changes)]
    assert len({endpoint.revision for endpoint in several}) == len({*map(repr, several)}) == 5
    assert one.revision.endswith("|temperature=0, seed by run, article, n and draft, max_tokens=8n+32")
    assert several[-1].signature == f"{one.signature}|parameters=3e6157c7"
    for equal in ({"concurrency": 1}, {"parameters": {"extra_body": {"temperature": 1}, "top_p": 0.5}}):
        assert repr(replace(several[-1], **equal)) == repr(several[-1]), "rows are copied all the same"


OURS = {"temperature": 0, "seed": SEED, "max_tokens": 48}


@pytest.mark.parametrize(
    ("parameters", "sent"),
    [
        ({"temperature": 1, "top_p": 0.9}, OURS | {"temperature": 1, "top_p": 0.9}),
        (dict.fromkeys([*OURS, "top_p"]), {}),
        ({"max_completion_tokens": "max_tokens"}, {"temperature": 0, "seed": SEED, "max_completion_tokens": 48}),
        ({"max_completion_tokens": 4000}, {"temperature": 0, "seed": SEED, "max_completion_tokens": 4000}),
        ({"max_completion_tokens": None}, OURS),
        ({"max_completion_tokens": 9, "max_tokens": 8}, OURS | {"max_completion_tokens": 9, "max_tokens": 8}),
        ({"my_seed": "seed", "stop": "no"}, {"temperature": 0, "max_tokens": 48, "my_seed": SEED, "stop": "no"}),
        ({"extra_body": {"top_k": 5, "max_tokens": None}}, {"temperature": 0, "seed": SEED, "top_k": 5}),
    ],
)
def test_parameters_set_add_rename_and_leave_out(
    server: OpenAiServer, parameters: dict[str, Any], sent: dict[str, Any]
) -> None:
    written(load(server, parameters=parameters), TEXT, 2)
    (body,) = server.asked
    assert {name: value for name, value in body.items() if name not in ("model", "messages")} == sent


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        *(({name: 1}, f"{name} is set by NWS itself") for name in ("model", "messages", "stream", "n")),
        ({"extra_body": {"stream": True}}, "stream is set by NWS itself"),
        ({"top_p": float("nan")}, "sent as JSON, which these cannot be"),
        ({"stop": "\0"}, "hold a NUL"),
        ({"extra_headers": {"X-Team": "a"}}, "'extra_headers' looks like a header or a key"),
        ({"extra_body": {"api_key": "x"}}, "'api_key' looks like a header or a key"),
        ({"chat": [{"note": f"Bearer {'0123' * 4}"}]}, "a parameter looks like a header or a key"),
        ({"user": "sk-proj-0123456789abcdef"}, "a parameter looks like a header or a key"),
        ({"user": "me own-key-0123"}, "a parameter looks like a header or a key"),
    ],
)
def test_what_cannot_be_sent_or_stored_is_refused(
    parameters: dict[str, Any], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "own-key-0123")
    with pytest.raises(RecipeError, match=told) as caught:
        Endpoint("tiny", "http://a/v1", parameters=parameters)
    assert "0123" not in str(caught.value)


def _error(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


_FORBIDDEN = {"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted", "input": 0}


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        # OpenAI and Azure.
        (400, _error("'max_tokens' is not supported. Use 'max_completion_tokens' instead."), "max_tokens"),
        (400, _error("'temperature' does not support 0 with this model.", param="temperature"), "temperature"),
        (400, _error("This model's maximum context length is 9.", param="messages"), ""),
        # Mistral, FastAPI, and vLLM, which writes as Python does. Some send back what they were sent.
        (422, {"object": "error", "message": {"detail": [_FORBIDDEN]}}, "seed"),
        (422, {"detail": [_FORBIDDEN]}, "seed"),
        (400, {"object": "error", "message": str([_FORBIDDEN]), "param": None}, "seed"),
        (422, {"detail": [{"loc": ["body"], "msg": "odd", "input": {"seed": 3, "max_tokens": 16}}]}, ""),
        # Anthropic, Gemini, and OpenRouter.
        (400, _error("max_tokens: 200000 > 64000, which is the maximum"), "max_tokens"),
        (400, _error("`temperature` and `top_p` cannot both be specified for this model."), "temperature"),
        (400, [_error('Invalid JSON payload received. Unknown name "seed": Cannot find field.')], "seed"),
        (200, _error("seed is not supported"), "seed"),
        (400, _error("The seeds of temperatures"), ""),
        (429, _error("too many max_tokens a minute"), ""),
    ],
)
def test_of_a_refused_parameter_the_key_is_told(server: OpenAiServer, status: int, body: Any, told: str) -> None:
    server.first = Reply(status, body)
    with pytest.raises(EndpointError) as caught:
        load(server, parameters={"presence_penalty": 1, "top_p": 0.9})
    advice = f'Set "parameters: {{{told}: null}}" of the endpoint to leave it out, or {{NEW_NAME: {told}}} to send'
    assert advice in str(caught.value) if told else "Set" not in str(caught.value)
    assert caught.value.settings == (("parameters", "set") if told else ())
    assert server.asked == [], "no article was sent"


def test_the_advice_is_on_what_was_sent(server: OpenAiServer) -> None:
    server.first = Reply(400, _error("'max_tokens' was replaced by 'max_completion_tokens'."))
    with pytest.raises(EndpointError, match=r"_tokens'\.$"):
        load(server, parameters=dict.fromkeys(OURS))


def choices(*texts: str) -> dict[str, Any]:
    """A completion with several choices."""
    several = [completion(text)["choices"][0] | {"index": i} for i, text in enumerate(texts)]
    return completion("") | {"choices": several}


REFUSAL = {"error": {"message": "n <= 1"}}
TWO, THREE, FOUR = "Snow fell", "Snow fell there", "Snow fell on Dover"


@pytest.mark.parametrize(
    ("length", "n", "replies", "taken", "counts"),
    [
        ("exactly", 2, [completion(TWO)], TWO, (1, 0)),
        ("exactly", 2, [completion(FOUR), choices(THREE, TWO, FOUR)], TWO, (2, 3)),
        # Fewer than were asked for: the others follow one by one, until one is right.
        ("exactly", 2, [completion(FOUR), choices(THREE), completion(TWO)], TWO, (3, 2)),
        # The server refuses several at once.
        ("exactly", 3, [completion(FOUR), REFUSAL, completion(TWO), completion(THREE)], THREE, (3, 2)),
        ("exactly", 9, [completion(TWO), choices(THREE, FOUR, TWO)], FOUR, (2, 3)),
        ("at_most", 3, [completion(FOUR), choices(FOUR, TWO, THREE)], THREE, (2, 3)),
        ("at_most", 3, [completion(TWO)], TWO, (1, 0)),
        ("free", 2, [completion(FOUR)], FOUR, (1, 0)),
    ],
)  # fmt: skip
def test_drafts_are_asked_for_until_one_has_the_right_length(
    server: OpenAiServer, length: Any, n: int, replies: list[Any], taken: str, counts: tuple[int, int]
) -> None:
    server.script.extend(Reply(400 if "error" in body else 200, body) for body in replies)
    loaded = load(server, length=length, drafts=0 if length == "free" else 3)
    (answer,) = written(loaded, TEXT, n)
    assert (answer.text, answer.extra["requests"], answer.extra["drafts"]) == (taken, *counts)
    assert answer.extra["prompt_tokens"] == 100 * counts[0]
    first, *drafts = server.asked
    assert first["temperature"] == 0
    assert all(body["temperature"] == 0.8 for body in drafts)
    seeds = [body["seed"] for body in server.asked if "n" not in body]
    assert len({*seeds}) == len(seeds)
    server.asked.clear()
    server.script.extend(Reply(400 if "error" in body else 200, body) for body in replies if "error" not in body)
    assert written(loaded, TEXT, n)[0].text == taken, "and again the same"


def test_a_server_that_fails_at_several_answers_is_asked_for_one_at_a_time(server: OpenAiServer) -> None:
    """Once it has refused several, always; where it has only failed, for this summary."""
    loaded = load(server, drafts=3)
    for status, asked in ((500, [1, 3, 3, 3, 3, 1]), (400, [1, 3, 1]), (200, [1, 1])):
        server.asked.clear()
        refusals = [Reply(status, REFUSAL)] * asked.count(3)
        server.script.extend([Reply(200, completion(FOUR)), *refusals, Reply(200, completion(TWO))])
        assert written(loaded, TEXT, 2)[0].text == TWO
        assert [body.get("n", 1) for body in server.asked] == asked


def test_a_text_that_the_limit_of_tokens_has_cut_is_taken_last(server: OpenAiServer) -> None:
    """It may end in the middle of a word, whatever its length."""
    for length in ("exactly", "at_most"):
        server.script.extend([Reply(200, completion("Snow fe", "length")), Reply(200, choices(THREE, TWO))])
        assert written(load(server, length=length, drafts=2), TEXT, 2)[0].text == TWO
    server.script.append(Reply(200, completion("Snow fe", "length")))
    assert written(load(server), TEXT, 2)[0].text == "Snow fe"


def test_more_tokens_from_a_cache_than_were_read_are_not_believed(server: OpenAiServer) -> None:
    for cached, kept in ((60, 60), (101, None)):
        usage = {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": cached}}
        server.script.append(Reply(200, completion(TWO, usage=usage)))
        assert written(load(server), TEXT, 2)[0].extra.get("cached_tokens") == kept


def test_the_first_request_of_an_article_goes_out_alone(server: OpenAiServer) -> None:
    """The others find its text in the endpoint's cache."""
    before: list[int] = []
    server.writes = lambda content: before.append(len(server.asked)) or "Snow fell"
    written(load(server), TEXT, 2, 5, 9)
    assert before[0] == 1
    assert "In 2 words" in server.asked[0]["messages"][0]["content"]
