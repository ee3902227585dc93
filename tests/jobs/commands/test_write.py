"""`nws write`: summaries of the articles of a file, without references."""

import importlib.util
import itertools
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from openai_server import OpenAiServer, Reply, completion, openai_server

from nws.core.article import Article
from nws.core.errors import ModelError
from nws.core.models.drafts import Drafting
from nws.core.models.endpoint import Endpoint
from nws.core.models.endpoint_requests import LoadedEndpoint
from nws.core.models.smollm2 import smollm2_gguf
from nws.core.text.length import count_characters, count_words
from nws.jobs.drive.write_file import write_summaries

TEXTS = [
    "Trams will run all night from Monday, the mayor said. Nurses and dockers had asked for them for years.",
    "Žižkov closed the schools of the town. The buses stood still until noon, and the market was called off.",
    "A new bridge was opened in the harbour. It is the first that ships can pass at low water.",
]


@pytest.fixture
def news(tmp_path: Path) -> str:
    rows = [{"id": f"a{i}", "text": text} for i, text in enumerate(TEXTS)]
    (tmp_path / "news.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return "news.jsonl"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAiServer]:
    with openai_server() as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        yield running


def rows(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize("system", ["lead", "textrank"])
def test_every_article_gets_a_summary_of_every_length(nws, news: str, system: str) -> None:
    done = nws("write", news, "--system", system, "--n", "3,7")
    assert done.code == 0, done.err
    found = rows(done.out)
    assert [(row["id"], row["n"]) for row in found] == [(f"a{i}", n) for i in range(3) for n in (3, 7)]
    assert all(row["words"] == count_words(row["summary"]) <= row["n"] for row in found)
    assert len({(row["system"], row["made_by"]) for row in found}) == 1
    found = rows(nws("write", news, "--system", system, "--max-chars", "30").out)
    assert all(count_characters(row["summary"]) <= 30 for row in found)


def test_they_are_the_texts_of_a_run(nws, news: str, tmp_path: Path) -> None:
    scored = [{**json.loads(line), "summary": "News."} for line in Path(news).read_text("utf-8").splitlines()]
    (tmp_path / "scored.jsonl").write_text("".join(json.dumps(row) + "\n" for row in scored), encoding="utf-8")
    submit = ("submit", "baselines", "--engine", "inline", "--dataset", "scored.jsonl", "--n", "5")
    assert nws(*submit, "--system", "lexrank", "--system", "lead3-search").code == 0
    stored = rows(nws("export", "--rows", "-").out)
    for system in ("lexrank", "lead3-search"):
        written = {row["id"]: row["summary"] for row in rows(nws("write", news, "--system", system, "--n", "5").out)}
        assert written == {row["key"]: row["text"] for row in stored if row["system"] == system and row["n"] == 5}


def test_what_was_written_is_scored_and_is_a_system_of_a_run(nws, news: str, tmp_path: Path) -> None:
    """As it is, with references that have the articles' ids, in another order."""
    references = ["Trams run all night.", "Schools closed in town.", "Harbour bridge opens."]
    scored = [{"id": f"a{i}", "text": TEXTS[i], "summary": references[i]} for i in (2, 0, 1)]
    assert nws("write", news, "--system", "lead", "--n", "5", "-o", "headlines.jsonl").code == 0
    written = rows((tmp_path / "headlines.jsonl").read_text("utf-8"))
    assert {"id", "summary", "made_by"} <= written[0].keys()
    pairs = [{"prediction": row["summary"], "reference": references[i]} for i, row in enumerate(written)]
    for name, lines in (("pairs.jsonl", pairs), ("scored.jsonl", scored), ("one.jsonl", scored[:1])):
        (tmp_path / name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    asked = ("score", "headlines.jsonl", "-m", "rouge1", "--json")
    assert nws(*asked, "--references-file", "scored.jsonl").json == nws("score", "pairs.jsonl", *asked[2:]).json
    assert "There is no reference" in nws(*asked).err, "it is no reference of its own"
    assert "has no row whose id is 'a0'" in " ".join(nws(*asked, "--references-file", "one.jsonl").err.split())
    submit = ("submit", "baselines", "--engine", "inline", "--dataset", "scored.jsonl", "--n", "5", "--system", "lead")
    assert nws(*submit, "--predictions", "headlines.jsonl").code == 0
    stored = {(row["system"], row["key"], row["n"]): row["text"] for row in rows(nws("export", "--rows", "-").out)}
    assert all(stored["headlines", row["id"], 0] == row["summary"] for row in written)


def test_what_is_there_is_not_written_again(nws, news: str, tmp_path: Path) -> None:
    asked = ("write", news, "--system", "lead", "-o", "out.jsonl")
    assert "3 summaries added to out.jsonl.\n" in nws(*asked, "--n", "3").err
    whole = (tmp_path / "out.jsonl").read_bytes()
    torn = whole[: whole.index("Ž".encode()) + 1]  # killed in the second line, inside of a letter
    (tmp_path / "out.jsonl").write_bytes(torn)
    again = nws(*asked, "--n", "3", "--json").json
    assert (again["summaries"], again["already_written"], again["failures"]) == (2, 1, {})
    assert (tmp_path / "out.jsonl").read_bytes() == whole
    (tmp_path / "out.jsonl").write_bytes(whole.rstrip())  # as editors leave it: nothing is torn
    assert nws(*asked, "--n", "3", "--json").json["summaries"] == 0
    assert (tmp_path / "out.jsonl").read_bytes() == whole
    assert nws(*asked, "--n", "3", "--json").json["summaries"] == 0
    assert nws(*asked, "--n", "3,5", "--json").json["summaries"] == 3
    assert nws(*asked, "--max-chars", "5", "--json").json["summaries"] == 3
    nws(*asked[:-4], "--system", "random", *asked[-2:], "--n", "3")
    assert nws(*asked, "--n", "3,5", "--json").json["other_lines"] == 6
    assert "6 lines of other articles, systems, lengths or code were kept." in nws(*asked, "--n", "3,5").err


def test_who_interrupts_it_is_told_how_to_go_on(nws, news: str, monkeypatch) -> None:
    def interrupted(*arguments: Any) -> Iterator[Any]:
        yield from itertools.islice(write_summaries(*arguments), 2)
        raise KeyboardInterrupt

    asked = ("write", news, "--system", "lead", "--n", "3", "-o", "out.jsonl")
    with monkeypatch.context() as patch:
        patch.setattr("nws.jobs.drive.write_file.write_summaries", interrupted)
        stopped = nws(*asked)
    assert stopped.code == 130
    assert "Interrupted. out.jsonl has the summaries so far. To go on, repeat the command." in stopped.err
    assert nws(*asked, "--json").json["already_written"] > 0


def test_what_made_the_summaries_stands_once_beside_them(nws, news: str, tmp_path: Path) -> None:
    for n in ("3", "5"):
        assert nws("write", news, "--system", "lead", "--n", n, "-o", "out.jsonl").code == 0
    assert nws("write", news, "--system", "random", "--n", "3", "-o", "out.jsonl").code == 0
    written = rows((tmp_path / "out.jsonl").read_text("utf-8"))
    assert set(written[0]) == {"id", "summary", "n", "words", "system", "text_hash", "made_by"}
    meta = json.loads((tmp_path / "out.jsonl.meta.json").read_text("utf-8"))
    assert {(row["made_by"], row["system"]) for row in written} == {(key, of["system"]) for key, of in meta.items()}
    assert len(meta) == 2


def test_another_text_model_or_code_is_written_anew(nws, news: str, tmp_path: Path, monkeypatch) -> None:
    asked = ("write", news, "--system", "lexrank", "--n", "3", "-o", "out.jsonl", "--json")
    assert nws(*asked).json["summaries"] == 3
    changed = Path(news).read_text("utf-8").replace("closed the schools", "opened the schools")
    (tmp_path / news).write_text(changed, encoding="utf-8")
    assert (nws(*asked).json["summaries"], nws(*asked).json["summaries"]) == (1, 0)
    for what in ("code_version", "library_versions"):
        monkeypatch.setattr(f"nws.jobs.drive.write_file.{what}", lambda: "another")
        assert nws(*asked).json["summaries"] == 3


def test_articles_that_cannot_be_summarised_are_named(nws, tmp_path: Path) -> None:
    (tmp_path / "twice.jsonl").write_text('{"id": "a", "text": "Snow fell."}\n{"id": "a", "text": "Rain fell."}\n')
    refused = nws("write", "twice.jsonl", "--system", "lead", "--n", "1")
    assert "line 2: another article has the key 'a', too" in refused.err
    (tmp_path / "news.jsonl").write_text('{"id": "a", "text": "..."}\n{"id": "b", "text": "Snow fell on Dover."}\n')
    done = nws("write", "news.jsonl", "--system", "lead", "--n", "3")
    assert done.code == 1
    assert [row["id"] for row in rows(done.out)] == ["b"]
    assert "No summary of 'a'" in done.err
    assert "1 article of 2 could not be summarised" in done.err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--system", "lead"), 2, "--n (words) or --max-chars (characters)"),
        (("--n", "3"), 2, "--system lexrank"),
        (("--system", "lead", "--n", "3", "--json"), 2, "-o FILE"),
        (("--system", "lead", "--n", "3", "--length", "exactly"), 2, "lead selects words"),
        (("--system", "oracle", "--n", "3"), 2, "oracle reads references"),
        (("--system", "lead", "--n", "auto"), 2, "Without references, n = auto has no end"),
        (("--system", "lead", "--n", "0"), 2, "should be greater than or equal to 1"),
        (("--system", "lead", "--n", "3", "--text-field", "body"), 1, "no field 'body'"),
        (("--system", "lead", "--n", "3", "-o", "gone/out.jsonl"), 1, "Name another file"),
    ],
)
def test_what_makes_no_sense_is_refused(nws, news: str, words: tuple[str, ...], code: int, message: str) -> None:
    refused = nws("write", news, *words)
    assert (refused.code, message in refused.err, refused.out) == (code, True, ""), refused.err


BY_ENDPOINT = ("write", "news.jsonl", "--system", "openai:tiny", "--drafts", "0", "--n", "3,5")


def test_models_are_asked_for_headlines_of_at_most_n(
    nws, news: str, server: OpenAiServer, tiny_models: dict[str, Path]
) -> None:
    assert all(row["system"].endswith("|at_most") for row in rows(nws(*BY_ENDPOINT).out))
    messages = [asked["messages"][0]["content"] for asked in server.asked]
    assert {re.findall("at most . words", message)[0] for message in messages} == {f"at most {n} words" for n in (3, 5)}
    for more, least, mark in (((), 1, "|at_most"), (("--length", "exactly"), 3, "|exact")):
        done = nws("write", news, "--system", str(tiny_models["llama"]), "--n", "3", *more)
        found = rows(done.out)
        assert [row["id"] for row in found] == ["a0", "a1", "a2"], done.err
        assert all(least <= row["words"] <= 3 and row["system"].endswith(mark) for row in found)


def test_summaries_that_no_draft_ended_are_counted(nws, news: str, tiny_models: dict[str, Path], monkeypatch) -> None:
    monkeypatch.setattr(Drafting, "best", lambda drafting, count: [("Trams", 0)] * (len(drafting._rows) // count))
    done = nws("write", news, "--system", str(tiny_models["llama"]), "--n", "3")
    assert "3 of 3 summaries were cut, such as that of 'a0', because no" in " ".join(done.err.split())


def test_texts_that_are_cut_are_counted(nws, news: str, server: OpenAiServer) -> None:
    """The server writes two words too many."""
    said = " ".join(nws(*BY_ENDPOINT, "--concurrency", "1", "-o", "out.jsonl").err.split())
    assert "6 of 6 summaries were cut, such as that of 'a0', because no text of the system ended within n." in said
    server.writes = lambda content: "Trams"
    assert "were cut" not in nws(*BY_ENDPOINT, "--parameters", "top_p=1", "-o", "out.jsonl").err


def test_a_length_that_is_there_is_not_paid_for_again(nws, news: str, server: OpenAiServer) -> None:
    assert nws(*BY_ENDPOINT[:-1], "3", "-o", "out.jsonl").code == 0
    told = nws(*BY_ENDPOINT, "-o", "out.jsonl").err
    assert "3 summaries added" in told
    assert len(server.asked) == 6, "three of each length"


def test_how_many_requests_there_may_be_is_said_before_the_first(nws, news: str, server: OpenAiServer) -> None:
    server.first = Reply(401, {})
    told = " ".join(nws(*BY_ENDPOINT[:4], "--n", "3,5", "--drafts", "4").err.split())
    assert f"Asking tiny at {server.url}: 6 to 30 requests, with at most about" in told
    assert "at most 1,920 output tokens" in told


def test_progress_counts_failures_and_no_earlier_texts(
    nws, news: str, server: OpenAiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else those of an earlier command would count as written just now, and the rest would seem to take no time."""
    counted: list[tuple[int, int]] = []

    @contextmanager
    def run_progress(console: object, total: int, done: int, unit: str) -> Iterator[Callable[[int, int], None]]:
        counted.append((total, done))
        yield lambda done, failures: counted.append((done, failures))

    monkeypatch.setattr("nws.jobs.drive.progress.run_progress", run_progress)
    server.scripted["closed the schools"] = Reply(200, completion(None))
    for there in (0, 4):
        nws(*BY_ENDPOINT, "-o", "out.jsonl")
        (total, done), *landed = counted
        assert (total, done, sorted(landed)) == (6, there, [(0, 2), *[(2, 0)] * (2 - there // 2)])
        counted.clear()


def test_a_server_may_be_sent_one_request_at_a_time(nws, news: str, server: OpenAiServer) -> None:
    assert nws(*BY_ENDPOINT, "--concurrency", "1").code == 0
    asked = [asked["messages"][0]["content"].split()[0] for asked in server.asked]
    assert asked == ["Trams", "Trams", "Žižkov", "Žižkov", "A", "A"], "one article after the other"


def answered(server: OpenAiServer, folder: Path) -> list[dict[str, Any]]:
    """The results of a batch, written in another order."""
    results = []
    for request in rows((folder / "requests.jsonl").read_text("utf-8")):
        body = {**server.answer(request["body"]["messages"][0]["content"]).body, "model": server.model}
        response = {"status_code": 200, "request_id": "r", "body": body}
        results.append({"id": "b", "custom_id": request["custom_id"], "response": response, "error": None})
    (folder / "results.jsonl").write_text("".join(json.dumps(result) + "\n" for result in results[::-1]))
    return results


@pytest.mark.parametrize("more", [(), ("--prompt", "Summarise:\n\n{article}"), ("--parameters", "{seed: null}")])
def test_a_batch_writes_what_a_live_endpoint_writes(
    nws, news: str, server: OpenAiServer, tmp_path: Path, more: tuple[str, ...]
) -> None:
    done = nws(*BY_ENDPOINT, *more, "--batch-out", "requests.jsonl")
    assert (done.code, done.out, server.greetings) == (0, "", 0), done.err
    assert nws(*BY_ENDPOINT, *more, "-o", "live.jsonl").code == 0
    requests, sent = rows((tmp_path / "requests.jsonl").read_text("utf-8")), len(server.asked)
    assert {(line["method"], line["url"]) for line in requests} == {("POST", "/v1/chat/completions")}
    assert sorted(json.dumps(line["body"]) for line in requests) == sorted(map(json.dumps, server.asked))
    assert len({line["custom_id"] for line in requests}) == len(requests) == (3 if "--prompt" in more else 6)
    assert all(re.fullmatch(r"[\w-]{1,64}", line["custom_id"], re.ASCII) for line in requests)
    answered(server, tmp_path)
    done = nws(*BY_ENDPOINT, *more, "--batch-in", "results.jsonl", "-o", "batch.jsonl")
    assert (done.code, len(server.asked)) == (0, sent), done.err
    batch, live = ((tmp_path / f"{name}.jsonl").read_text("utf-8").splitlines() for name in ("batch", "live"))
    assert sorted(batch) == sorted(live)


def test_drafts_that_a_live_endpoint_would_not_be_asked_for_are_not_taken(
    nws, news: str, server: OpenAiServer, tmp_path: Path
) -> None:
    """A batch has them all, also where the first answer is right."""
    by_batch = (*BY_ENDPOINT[:4], "--n", "3", "--drafts", "2")
    assert nws(*by_batch, "--batch-out", "requests.jsonl", "--json").json["requests"] == 6
    for first, taken in (("Trams run", "Trams run"), ("Trams run all night", "Trams run on")):
        results = []
        for request in rows((tmp_path / "requests.jsonl").read_text("utf-8")):
            body = completion("Trams run on" if "n" in request["body"] else first)
            results.append({"custom_id": request["custom_id"], "response": {"status_code": 200, "body": body}})
        (tmp_path / "results.jsonl").write_text("".join(json.dumps(result) + "\n" for result in results))
        found = rows(nws(*by_batch, "--batch-in", "results.jsonl").out)
        assert [row["summary"] for row in found] == [taken] * 3
    refused = " ".join(nws(*BY_ENDPOINT[:-2], "--n", "3", "--batch-in", "results.jsonl").err.split())
    assert "--drafts" in refused


def test_what_a_batch_lacks_is_a_failure_and_can_be_asked_for(
    nws, news: str, server: OpenAiServer, tmp_path: Path
) -> None:
    assert nws(*BY_ENDPOINT, "--batch-out", "requests.jsonl", "--json").json["requests"] == 6
    expired, refused, lost, good, *_ = results = answered(server, tmp_path)
    expired |= {"response": None, "error": {"code": "batch_expired", "message": "It took too long."}}
    refused["response"] = {"status_code": 400, "body": {"error": {"message": "'temperature' is not supported"}}}
    late = json.loads(json.dumps(good))
    good["response"]["body"]["choices"][0]["message"]["content"] = None
    said = [*(result for result in results if result is not lost), late]
    for message in ("(It took too long.)", '. Set "parameters: {temperature: null}" of the endpoint'):
        (tmp_path / "results.jsonl").write_text("".join(json.dumps(result) + "\n" for result in said))
        told = " ".join(nws(*BY_ENDPOINT, "--batch-in", "results.jsonl", "-o", "out.jsonl").err.split())
        assert re.search(rf"No summary of 'a0': tiny, as results.jsonl has it, .*{re.escape(message)}", told)
        assert "tiny, as results.jsonl has it, has no answer. Error: 2 articles of 3 could not be" in told
        expired["response"] = late["response"]
    assert nws(*BY_ENDPOINT, "-o", "out.jsonl", "--json").json["summaries"] == 4


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (("--n", "3", "--batch-in", "results.jsonl"), 1, "results.jsonl, line 1: 'a2-5-"),
        (("--n", "3,5", "--prompt", "{n}: {article}", "--batch-in", "results.jsonl"), 1, "answers another request"),
        (("--n", "3,5", "--parameters", "top_p=1", "--batch-in", "results.jsonl"), 1, "answers another request"),
        (("--n", "3", "--system", "lead", "--batch-out", "new.jsonl"), 2, "Name a system openai:MODEL."),
        (("--n", "3", "--batch-out", "new.jsonl", "-o", "out.jsonl"), 2, "--batch-out writes no summaries"),
        (("--n", "3", "--parameters", "seed"), 2, "--parameters takes a key and a value"),
        (("--n", "3", "--parameters", "{n: 2}"), 2, "endpoint.parameters: n is set by NWS itself"),
    ],
)
def test_answers_to_other_requests_are_refused(
    nws, news: str, server: OpenAiServer, tmp_path: Path, more: tuple[str, ...], code: int, message: str
) -> None:
    nws(*BY_ENDPOINT, "--batch-out", "requests.jsonl")
    answered(server, tmp_path)
    refused = nws(*BY_ENDPOINT[:-2], *more)
    assert (refused.code, message in " ".join(refused.err.split()), refused.out) == (code, True, ""), refused.err
    assert not (tmp_path / "new.jsonl").exists()


def test_an_endpoint_may_fail_an_article_but_not_all(nws, news: str, server: OpenAiServer, tmp_path: Path) -> None:
    server.scripted["closed the schools"] = Reply(200, completion(None, "length"))
    done = nws(*BY_ENDPOINT)
    assert sorted(row["id"] for row in rows(done.out)) == ["a0", "a0", "a2", "a2"]
    assert (done.code, "1 article of 3 could not be summarised" in done.err) == (1, True)
    assert "(finish_reason: length). Raise max_tokens under `parameters`" in " ".join(done.err.split())
    assert len(server.asked) == 6, "what was answered was not asked for twice"
    more = "".join(json.dumps({"text": f"He closed the schools {i} times."}) + "\n" for i in range(80))
    (tmp_path / "news.jsonl").write_text(more)
    assert "50 articles in a row got no answer, so no more are tried." in " ".join(nws(*BY_ENDPOINT).err.split())


_LLAMA_SERVER = """
import os, sys, time, xllamacpp
settings = xllamacpp.CommonParams()
settings.model.path, settings.n_ctx, settings.n_parallel, settings.port = sys.argv[1], 2048, 1, 0
settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1  # several wait for each other, spinning
running = xllamacpp.Server(settings)
print(running.listening_address, flush=True)
os.dup2(2, 1)
time.sleep(600)
"""


@pytest.fixture
def llama_cpp(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """llama.cpp's server with the weights of SmolLM2, in a process of its own, which it may crash when it ends."""
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("xllamacpp is not installed, which carries llama.cpp's server")
    try:
        weights = str(smollm2_gguf())
    except ModelError as error:
        pytest.skip(str(error))
    started = [sys.executable, "-c", _LLAMA_SERVER, weights]
    with subprocess.Popen(started, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        address = next(line for line in process.stdout if line.startswith("http"))
        monkeypatch.setenv("OPENAI_BASE_URL", f"{address.strip()}/v1")
        yield
        process.kill()


@pytest.mark.slow
def test_llama_cpp_writes_and_refuses(nws, news: str, llama_cpp: None) -> None:
    for parameters in ("seed=null", "{max_completion_tokens: max_tokens, extra_body: {top_k: 1, min_p: 0}}"):
        done = nws(*BY_ENDPOINT[:-1], "5", "--parameters", parameters)
        assert (done.code, sorted(row["id"] for row in rows(done.out))) == (0, ["a0", "a1", "a2"]), done.err
        assert all(0 < row["words"] <= 5 and "SmolLM2" in row["answered_by"] for row in rows(done.out))
    told = nws(*BY_ENDPOINT, "--parameters", "max_tokens=many").err
    assert 'Set "parameters: {max_tokens: null}" of the endpoint' in " ".join(told.split())


@pytest.mark.slow
def test_llama_cpp_reads_an_article_once_for_all_lengths(llama_cpp: None) -> None:
    words = " ".join(TEXTS).split()
    article = Article("d", "test", "long", " ".join((words * 40)[:600]), ("A reference.",))
    endpoint = Endpoint("smollm2", os.environ["OPENAI_BASE_URL"], concurrency=1)
    lengths = range(1, 22, 2)
    ((_, found),) = filter(None, LoadedEndpoint(endpoint, 0).write([(article, lengths)]))
    computed = [int(one.extra["prompt_tokens"]) - int(one.extra["cached_tokens"]) for one in found.values()]
    assert len(computed) == 11
    assert computed[0] > 600
    assert sum(computed) <= 1.3 * computed[0]
