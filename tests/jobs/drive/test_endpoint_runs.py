"""Runs whose summaries come from an endpoint: what is asked, stored, paid for once, and told where it fails."""

import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from openai_server import OpenAiServer, Reply, completion, openai_server, retry_at_once
from rich.console import Console
from stored_rows import rows
from undisturbed import QUIET

from nws.core.errors import EndpointError
from nws.core.models.endpoint import read_answers
from nws.core.text.length import count_characters
from nws.jobs.drive import driver
from nws.jobs.drive.dry_run import describe, print_description
from nws.jobs.drive.run import Outcome
from nws.jobs.recipes.job import plan_job
from nws.jobs.recipes.plan import Plan
from nws.jobs.store import Store

KEY = "sk-not-to-be-seen-0123456789"
PROMPT = "In exactly {n} words:\n\n{article}"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAiServer]:
    retry_at_once(monkeypatch)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with openai_server() as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        yield running


def planned(tiny_models: dict[str, Path], **changes: object) -> Plan:
    bert = str(tiny_models["bert"])
    asked = {
        "bertscore": {"model": bert, "num_layers": 2},
        **{
            "encoder": bert,
            "datasets.limit": 3,
            "bundle_size": 2,
            "n": [1, 5],
            "systems": ["openai:tiny"],
            "prompt": PROMPT,
            "endpoint": {"drafts": 0},
        },
    }
    return plan_job("baselines", "sample", asked | changes)


COLUMNS = ("article_id", "n", "text", "words")
COUNTS = tuple(f"extra ->> '{name}'" for name in ("words_asked", "words_written", "prompt_tokens", "answered_by"))


def table(store: Store, run_id: str, *names: str) -> list[tuple[object, ...]]:
    columns = ", ".join(names or (*COLUMNS, *COUNTS))
    return rows(store, f"select {columns} from summaries where run_id = '{run_id}' order by article_id, n")


def test_what_was_asked_and_answered_is_stored_and_paid_for_once(
    store: Store, server: OpenAiServer, tiny_models: dict[str, Path], tmp_path: Path
) -> None:
    found = planned(tiny_models)
    first = driver.start(store, found, "inline", QUIET, reuse=True)
    assert (first.state, first.articles, first.summaries, first.failures) == ("done", 3, 6, 0)
    stored = table(store, first.run_id)
    for _, n, text, words, asked, written, prompt_tokens, answered_by in stored:
        assert (len(str(text).split()), words) == (n, n)
        assert (int(str(asked)), int(str(written)), prompt_tokens, answered_by) == (n, n + 2, 100, "tiny-2026")
    assert len(server.asked) == 6
    words = store.obedience(first.run_id, found.systems)
    assert [(one.n, one.summaries, one.mean_length, one.within) for one in words] == [(1, 3, 3, 0), (5, 3, 7, 0)]
    (used,) = store.endpoint_use(first.run_id, found.systems)
    assert (used.articles, used.requests, used.read, used.written) == (3, 6, 600, 42)

    again = driver.start(store, planned(tiny_models), "inline", QUIET, reuse=True)
    assert (again.state, again.articles, again.reused) == ("done", 3, 6)
    assert table(store, again.run_id) == stored
    assert (len(server.asked), server.greetings) == (6, 1)

    more = driver.start(store, planned(tiny_models, n=[1, 3, 5]), "inline", QUIET, reuse=True)
    assert (more.summaries, len(server.asked)) == (9, 9), "of another n that alone is asked for"
    assert [row for row in table(store, more.run_id) if row[1] != 3] == stored
    other = driver.start(store, planned(tiny_models, prompt="Say: {article}", n=[1]), "inline", QUIET, reuse=True)
    assert (other.summaries, other.reused, len(server.asked)) == (6, 0, 12), "another prompt is another system"

    assert KEY.encode() not in b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert set(server.keys) == {f"Bearer {KEY}"}


def test_a_dry_run_says_how_many_requests_there_would_be(server: OpenAiServer, tiny_models: dict[str, Path]) -> None:
    """As `parameters` let them be, of which one may let models write without a limit."""
    for changes, counts in (
        ({}, "6 requests, with at most about [\\d,]+ input tokens and at most 336 output tokens"),
        ({"endpoint": {"drafts": 4}}, "6 to 30 requests, .* at most 1,680 output tokens"),
        ({"endpoint.parameters.max_completion_tokens": 4000}, "6 requests, .* at most 24,000 output tokens"),
        ({"endpoint.parameters.max_tokens": None}, "6 requests, .* unlimited output tokens"),
    ):
        said = io.StringIO()
        print_description(describe(planned(tiny_models, **changes)), Console(file=said, width=500))
        (told,) = [line for line in said.getvalue().splitlines() if line.startswith("requests ")]
        assert re.search(rf"openai:tiny\|prompt=ad6eb8d0.*: {counts}; fewer if answers are copied", told)
    assert server.asked == [], "and it sends none"


@pytest.mark.slow
def test_texts_are_taken_over_and_scored_anew_where_something_else_differs(
    store: Store, server: OpenAiServer, tiny_models: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    server.fingerprint = "fp_1"
    first = driver.start(store, planned(tiny_models), "inline", QUIET, reuse=True)
    assert driver.start(store, planned(tiny_models), "inline", QUIET, reuse=True).reused == first.summaries
    server.model, server.first = "tiny-2027", Reply(401, {"error": {"message": "Wrong key"}})
    other_metric = {"bertscore": {"model": str(tiny_models["bert"]), "num_layers": 1}}
    monkeypatch.setattr("nws.jobs.drive.reuse.code_as_imported", lambda: "0123456789ab")
    said = io.StringIO()
    scored = driver.start(store, planned(tiny_models), "inline", Console(file=said, width=500), reuse=True)
    measured = driver.start(store, planned(tiny_models, **other_metric), "inline", QUIET, reuse=True)
    assert (scored.state, scored.reused, measured.reused, len(server.asked)) == ("done", 0, 0, 6)
    assert "Texts of openai:tiny|prompt=ad6eb8d0 that other runs have are scored anew" in said.getvalue()
    as_they_were = "article_id", "n", "text", "words", "seconds", "extra ->> 'completion_tokens'"
    with_model = *as_they_were, "extra ->> 'answered_by'", "extra ->> 'system_fingerprint'"
    assert (
        table(store, first.run_id, *with_model)
        == table(store, scored.run_id, *with_model)
        == table(store, measured.run_id, *with_model)
    )
    assert table(store, first.run_id, "round(bertscore_f1, 5)") == table(store, scored.run_id, "round(bertscore_f1, 5)")
    assert table(store, first.run_id, "bertscore_f1") != table(store, measured.run_id, "bertscore_f1")
    assert {row[0] for row in table(store, measured.run_id, "extra ->> 'text_from'")} == {first.run_id}
    server.first = None
    wider = driver.start(
        store, planned(tiny_models, precision="bfloat16", **{"datasets.limit": 4}), "inline", QUIET, reuse=True
    )
    assert (wider.summaries, len(server.asked)) == (8, 6 + 2), "of a bundle that alone is asked for which nobody has"
    for change in ({"seed": 1}, {"prompt": f"{PROMPT} "}, {"endpoint.parameters.top_p": 0.5}):
        driver.start(store, planned(tiny_models, **change), "inline", QUIET, reuse=True)
    assert len(server.asked) == 8 + 3 * 6, "what is asked otherwise is asked for"
    driver.start(store, planned(tiny_models), "inline", QUIET, reuse=False)
    assert len(server.asked) == 8 + 4 * 6, "and so is all without reuse"


def test_cuts_of_one_article_are_of_one_answer(
    store: Store, server: OpenAiServer, tiny_models: dict[str, Path]
) -> None:
    """An endpoint that is asked once for no number of words writes another text each time."""

    def run(*n: int) -> Outcome:
        plan = planned(tiny_models, prompt="Summarise: {article}", n=list(n))
        return driver.start(store, plan, "inline", QUIET, reuse=True)

    server.scripted[""] = Reply(200, completion("alpha beta gamma delta epsilon zeta eta"))
    assert (run(3, 5).reused, len(server.asked)) == (0, 3)
    server.scripted[""] = Reply(200, completion("one two three four five six seven"))
    longer = run(3, 4, 5)
    assert (longer.summaries, longer.reused, len(server.asked)) == (12, 0, 3)
    assert {str(row[2]).split()[0] for row in table(store, longer.run_id)} == {"alpha"}
    again = run(3, 5)
    assert (again.summaries, again.reused, len(server.asked)) == (9, 9, 3)


def test_thoughts_are_counted_and_earlier_ones_asked_for_anew(
    store: Store, server: OpenAiServer, tiny_models: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    server.scripted[""] = Reply(200, completion("<think>Hm.</think>alpha beta"))
    with monkeypatch.context() as earlier:  # code that kept what it was sent
        earlier.setattr(
            "nws.core.models.endpoint_requests.read_answers", lambda body, hide, _: read_answers(body, hide)
        )
        first = driver.start(store, planned(tiny_models), "inline", QUIET, reuse=True)
    assert {row[2] for row in table(store, first.run_id) if row[1] == 1} == {"<think>Hm.</think>alpha"}
    monkeypatch.setattr("nws.jobs.drive.reuse.code_as_imported", lambda: "0123456789ab")
    said = io.StringIO()
    again = driver.start(store, planned(tiny_models), "inline", Console(file=said, width=500), reuse=True)
    assert (
        "Warning: 6 of 6 predictions of openai:tiny|prompt=ad6eb8d0 contained the thoughts of a model"
        in said.getvalue()
    )
    assert {row[2] for row in table(store, again.run_id) if row[1] == 1} == {"alpha"}
    assert {row[0] for row in table(store, again.run_id, "extra ->> 'raw_text'")} == {"<think>Hm.</think>alpha beta"}
    other = planned(tiny_models, clean_outputs="markup")
    assert list(other.systems) == ["openai:tiny|prompt=ad6eb8d0|clean_outputs=markup"]
    assert other.recipe.hash != planned(tiny_models, clean_outputs=["thoughts"]).recipe.hash
    assert "clean_outputs" not in planned(tiny_models).recipe.model_dump()


def test_a_wrong_key_ends_the_run_at_once(store: Store, server: OpenAiServer, tiny_models: dict[str, Path]) -> None:
    server.first = Reply(401, {"error": {"message": f"Wrong key {KEY}"}})
    with pytest.raises(EndpointError, match=r"answered 401: Wrong key \[key\]"):
        driver.start(store, planned(tiny_models), "inline", QUIET)
    (run,) = store.list_runs()
    assert (run.state, run.failures, server.asked) == ("failed", 0, [])
    assert "answered 401" in (run.error or "")


def test_an_article_that_fails_costs_no_other_one_anything(
    store: Store, server: OpenAiServer, tiny_models: dict[str, Path]
) -> None:
    found = planned(tiny_models)
    second = list(found.corpora[0])[1]
    server.scripted[second.text[:80]] = Reply(503, b"busy")
    outcome = driver.start(store, found, "inline", QUIET)
    assert (outcome.state, outcome.articles, outcome.failures) == ("done", 2, 1)
    (failure,) = store.failures(outcome.run_id)
    assert (failure.key, failure.error_class) == (second.key, "EndpointError")
    assert "answered 503: busy" in failure.message
    assert len(server.asked) == 4 + 2 * 4, "two articles once, and of one each n four times"
    server.scripted.clear()
    resumed = driver.resume(store, outcome.run_id, "inline", None, None, QUIET)
    assert (resumed.articles, resumed.failures, len(server.asked)) == (3, 0, 14)


@pytest.mark.slow
def test_what_is_asked_for_characters_is_cut_at_the_last_word_that_fits(
    store: Store, server: OpenAiServer, tiny_models: dict[str, Path]
) -> None:
    """The server writes five words, whatever it is asked for but words."""
    asked = {"datasets.limit": 3, "bundle_size": 2, "max_chars": [12, 60], "endpoint": {"concurrency": 2, "drafts": 0}}
    own = {"encoder": str(tiny_models["bert"]), "bertscore": {"model": str(tiny_models["bert"]), "num_layers": 2}}
    systems = ["lead", "openai:tiny", str(tiny_models["llama"]), str(tiny_models["bart"])]
    found = plan_job("baselines", "sample", asked | own | {"systems": systems})
    outcome = driver.start(store, found, "inline", QUIET)
    assert (outcome.state, outcome.failures, outcome.summaries) == ("done", 0, 3 * (4 * 2 + 1))
    for body in server.asked:
        content = body["messages"][0]["content"]
        n = 12 if "in at most 12 characters, blanks included" in content else 60
        assert f"in at most {n} characters" in content
        assert body["max_tokens"] == 32 + 2 * n
    stored = rows(store, "select system, n, text, words, extra from summaries where n > 0")
    for system, n, text, words, extra in stored:
        assert count_characters(text) <= n
        assert words == len(text.split())
        assert ("characters_asked" in str(extra)) == ("prompt=" in system)
        assert "words_asked" not in str(extra)
    whole = {text for system, n, text, _, _ in stored if system.startswith("openai") and n == 60}
    assert all(len(text.split()) == 5 for text in whole)
    run = store.run_info(outcome.run_id)
    (twelve, sixty) = store.obedience(run.id, [name for name in found.systems if name.startswith("openai")])
    assert (twelve.n, twelve.within, sixty.n, sixty.within) == (12, 0, 60, 1)
    assert twelve.mean_length == sixty.mean_length == sum(map(count_characters, whole)) / 3
    (used,) = store.endpoint_use(run.id, [name for name in found.systems if name.startswith("openai")])
    assert used.requests == 6
    assert not any(name.endswith("|exact") for name in found.systems)
