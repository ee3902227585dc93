"""`nws judge` against an endpoint on this machine: what is asked, what is paid for, and what is made of the replies."""

import json
import re
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hostile_server import KEY, QUICK, hostile_server, naming
from hypothesis import given
from hypothesis import strategies as st
from nws_process import end, start
from openai_server import OpenAiServer, Reply, completion, openai_server, retry_at_once

from nws.core.errors import RecipeError
from nws.jobs.tools.judged_file import open_replies, read_replies

SYSTEMS = {"good": 5, "fair": 4, "poor": 2, "bad": 1}
DOCUMENTS = range(6)


def words(found) -> str:
    """What was printed, whatever the width."""
    return " ".join(found.out.split())


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAiServer]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    retry_at_once(monkeypatch)
    with openai_server() as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        running.writes = stated_quality
        yield running


def stated_quality(content: str) -> str:
    """The score that a summary says to deserve."""
    (found,) = re.findall(r"quality (\d)", content)
    return f"Score: {found}"


@pytest.fixture
def file(tmp_path: Path) -> str:
    rows = [
        {
            **{"system": system, "document": f"d{i}", "source": f"Snow fell on town {i}."},
            **{
                "prediction": f"{system} {i}: quality {quality}",
                "rouge": quality / 10 + i / 100,
                "people": quality + i % 2,
            },
        }
        for i in DOCUMENTS
        for system, quality in SYSTEMS.items()
    ]
    (tmp_path / "scores.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return "scores.jsonl"


JUDGE = ("--model", "tiny", "-o", "judged.jsonl")


def rows(folder: Path, name: str = "judged.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


def test_summaries_are_scored_once_and_correlated_with_people(
    nws, server: OpenAiServer, file: str, tmp_path: Path
) -> None:
    dry = nws("judge", file, *JUDGE, "--dry-run", "--json").json
    assert (dry["questions"], dry["requests"]) == (24, 24)
    assert 2000 < dry["tokens"] < 3000
    assert server.greetings == 0
    assert "24 requests to tiny at http://127.0.0.1:" in words(nws("judge", file, *JUDGE, "--dry-run"))
    assert not (tmp_path / "judged.replies.jsonl").exists()

    found = nws("judge", file, *JUDGE)
    assert found.code == 0, found.err
    assert "Answered by tiny-2026 (24)." in words(found)
    (body, *_), sent = server.asked, len(server.asked)
    assert (sent, body["model"], body["temperature"], body["seed"], body["max_tokens"]) == (24, "tiny", 0, 0, 512)
    assert set(server.keys) == {f"Bearer {KEY}"}

    again = nws("judge", file, *JUDGE, "--json").json
    assert (again["sent"], len(server.asked), server.greetings) == (0, 24, 1), "paid once, and not even greeted"
    assert (again["questions"], again["no_verdict"], again["unanswered"]) == (24, 0, 0)
    assert again["tokens"] == {"prompt_tokens": 2400, "completion_tokens": 168, "cached_tokens": 0}
    assert [(one["system"], one["mean"]["mean"]) for one in again["systems"]] == list(SYSTEMS.items())

    judged = rows(tmp_path)
    assert len(judged) == 24
    assert judged[0]["judge"] == 5
    assert judged[0]["judge_answered_by"] == "tiny-2026"
    assert judged[0]["judge_signature"] == again["signature"]
    assert (judged[0]["rouge"], judged[0]["words"]) == (0.5, 4)
    held = nws("correlate", "judged.jsonl", "--metrics", "judge,rouge", "--human", "people", "--json").json
    assert held["metrics"]["judge"]["system"]["pearson"]["value"] == pytest.approx(1)


@pytest.mark.parametrize(
    "changed",
    [
        *(("--scale", "1,6"), ("--prompt", "Is it good? {summary}"), ("--seed", "1"), ("--model", "large")),
        ("--parameters", "max_completion_tokens=4000"),
    ],
    ids=lambda changed: changed[0],
)
def test_another_question_is_asked_anew_and_the_first_stays_paid(
    nws, server: OpenAiServer, file: str, changed: tuple[str, str]
) -> None:
    few = (*JUDGE, "--limit", "2", "--json")
    first = nws("judge", file, *few).json
    other = nws("judge", file, *few, *changed).json
    assert (first["sent"], other["sent"]) == (8, 8)
    assert first["signature"] != other["signature"]
    assert other["questions"] == 8, "nothing of the first is mixed in"
    assert nws("judge", file, *few).json == first | {"sent": 0}
    most = 4000 if "--parameters" in changed else 512
    assert {body.get("max_completion_tokens", body.get("max_tokens")) for body in server.asked[8:]} == {most}
    assert nws("judge", file, *JUDGE, *changed, "--dry-run", "--json").json["most_written"] == 16 * most


def test_a_reply_without_a_score_is_counted_and_never_scored(
    nws, server: OpenAiServer, file: str, tmp_path: Path
) -> None:
    server.scripted = {
        "bad 0:": Reply(200, completion("I cannot score this: it has 2 mistakes.")),
        "bad 1:": Reply(200, completion(None, "length")),
        "bad 2:": Reply(200, completion("Score: 1, if you ask me, or rather", "length")),
    }
    found = nws("judge", file, *JUDGE, "--json")
    assert found.code == 0
    assert (found.json["no_verdict"], found.json["sent"]) == (3, 24)
    assert found.json["tokens"]["prompt_tokens"] == 2400, "what is not scored is paid for, too"
    (bad,) = (one for one in found.json["systems"] if one["system"] == "bad")
    assert (bad["summaries"], bad["no_verdict"]) == (3, 3)
    assert len(rows(tmp_path)) == 21
    kept = rows(tmp_path, "judged.replies.jsonl")
    assert sum(line["reply"] == "I cannot score this: it has 2 mistakes." for line in kept) == 1
    assert [line["problem"] for line in kept if not line["reply"]] == ["wrote nothing (finish_reason: length)"]
    assert all(line["verdict"] is None for line in kept if "bad" in line["about"] and line["about"][-1] in "012")
    told = words(nws("judge", file, *JUDGE))
    assert "Not counted: 3 replies without a score." in told
    assert len(server.asked) == 24, "and not asked for a second time"


def test_equal_summaries_of_an_article_are_asked_about_once(nws, server: OpenAiServer, tmp_path: Path) -> None:
    row = {"document": "d", "source": "Snow.", "prediction": "quality 4"}
    (tmp_path / "x.jsonl").write_text("\n".join(json.dumps(row | {"system": name}) for name in "abc"))
    assert nws("judge", "x.jsonl", *JUDGE, "--json").json["sent"] == 1
    assert [row["judge"] for row in rows(tmp_path)] == [4, 4, 4]


def test_requests_that_fail_are_asked_again_by_the_same_command(
    nws, server: OpenAiServer, file: str, tmp_path: Path
) -> None:
    server.scripted = {"fair 3:": Reply(400, {"error": "no"})}
    found = nws("judge", file, *JUDGE, "--json")
    assert found.code == 1
    assert "1 request got no reply" in found.err
    assert (found.json["sent"], found.json["unanswered"], len(rows(tmp_path))) == (23, 1, 23)
    server.scripted = {}
    assert nws("judge", file, *JUDGE, "--json").json["sent"] == 1
    assert len(rows(tmp_path)) == 24


def test_an_endpoint_that_gives_no_score_any_more_is_not_paid_for_long(
    nws, server: OpenAiServer, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of 20 that fail: an answer to one of the first four may come after some of them.
    monkeypatch.setattr("nws.jobs.tools.judged_file._MOST_WITHOUT_SCORE", 10)
    server.scripted = {f" {i}:": Reply(402, {"error": "no money"}) for i in DOCUMENTS if i}
    found = nws("judge", file, *JUDGE, "--concurrency", "2")
    assert found.code == 1
    assert "10 questions in a row brought no score, so no more are asked. The last: The endpoint" in found.err
    assert "no money" in found.err
    assert len(rows(tmp_path, "judged.replies.jsonl")) == 4
    server.scripted, server.writes = {}, lambda content: "The summary is concise and has 3 facts."
    found = nws("judge", file, *JUDGE, "--concurrency", "1", "--seed", "1")
    assert "The last: tiny stated no score: 'The summary is concise and has 3 facts.'." in found.err
    assert len(rows(tmp_path, "judged.replies.jsonl")) == 14
    assert not (tmp_path / "judged.jsonl").exists()


def test_verdicts_of_several_models_are_not_mixed_silently(
    nws, server: OpenAiServer, file: str, tmp_path: Path
) -> None:
    nws("judge", file, *JUDGE, "--limit", "2")
    server.model = "tiny-2027"
    found = nws("judge", file, *JUDGE)
    assert "Answered by tiny-2026 (8) and tiny-2027 (16)." in words(found)
    assert "Several models have answered under this name" in words(found)
    assert {row["judge_answered_by"] for row in rows(tmp_path)} == {"tiny-2026", "tiny-2027"}


def test_a_hostile_endpoint_ends_in_words(nws, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each trick, in an article of its own: nothing is scored, and the key is nowhere."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    retry_at_once(monkeypatch)
    monkeypatch.setattr("nws.jobs.tools.judged_file._MOST_WITHOUT_SCORE", 1000)
    tricks = sorted(QUICK)
    lines = [
        json.dumps({"system": "lead", "document": trick, "source": naming(trick), "prediction": "Snow."})
        for trick in tricks
    ]
    (tmp_path / "x.jsonl").write_text("\n".join(lines))
    with hostile_server() as hostile:
        monkeypatch.setenv("OPENAI_BASE_URL", hostile.url)
        found = nws("judge", "x.jsonl", *JUDGE, "--concurrency", "50", "--json")
    assert found.code == 1
    assert found.json["no_verdict"] + found.json["unanswered"] == len(tricks)
    assert found.json["no_verdict"] > 5
    assert "Traceback" not in found.err
    for path in tmp_path.iterdir():
        assert KEY not in path.read_text()
    assert KEY not in found.out + found.err


@pytest.mark.slow
@pytest.mark.parametrize("ended_by", [signal.SIGKILL, signal.SIGINT])
def test_a_process_that_is_ended_loses_no_reply(
    nws, server: OpenAiServer, file: str, tmp_path: Path, ended_by: signal.Signals
) -> None:
    """While two requests are under way: these and what was not sent yet are sent by the next one."""
    stopped, ended = threading.Event(), threading.Event()

    def writes(content: str) -> str:
        if len(server.asked) > 9 and not ended.is_set():
            stopped.set()
            ended.wait(60)
        return stated_quality(content)

    server.writes = writes
    process = start(tmp_path, "judge", file, *JUDGE, "--concurrency", "2")
    try:
        assert stopped.wait(60)
        process.send_signal(ended_by)
        _, told = process.communicate(timeout=60)
    finally:
        end(process)
        ended.set()
    if ended_by == signal.SIGINT:
        assert process.returncode == 130
        assert "Interrupted. The replies so far are in judged.replies.jsonl" in told
        assert "Traceback" not in told
    replies = tmp_path / "judged.replies.jsonl"
    before = len(replies.read_text().splitlines())
    assert len(server.asked) - before in (1, 2)
    with replies.open("a") as torn:
        torn.write('{"question": "0123')
    assert nws("judge", file, *JUDGE, "--json").json["sent"] == 24 - before
    assert len(rows(tmp_path)) == len(read_replies(replies.read_bytes())) == 24


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--scale", "5,1"), "from a whole number to a higher one"),
        (("--scale", "1"), "The scale must be two whole numbers such as 1,5, not '1'"),
        (("--prompt", "Good?"), "has to name {summary} once: 'Good?'."),
        (("--prompt", "{summary} {n}"), "Only {article}, {summary}, {low} and {high} are known"),
        (("-o", "judged.csv"), "name a file that ends in .jsonl"),
        (("-o", "scores.jsonl"), "is the file that is read"),
    ],
)
def test_what_cannot_be_is_told_before_anything_is_sent(
    nws, server: OpenAiServer, file: str, arguments: tuple[str, ...], told: str
) -> None:
    found = nws("judge", file, *JUDGE, *arguments)
    assert found.code == 2, found.out
    assert told in found.err
    assert server.keys == []


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"judge_x": 1}, "The file already has the judge's field 'judge_x'"),
        ({"system": 1.5}, "line 1: Field 'system' holds 1.5, not text or a whole number"),
    ],
)
def test_a_row_that_cannot_be_judged_is_named(
    nws, server: OpenAiServer, tmp_path: Path, row: dict[str, Any], told: str
) -> None:
    good = {"system": "a", "document": 1, "source": "Snow.", "prediction": "Snow."}
    (tmp_path / "x.jsonl").write_text(json.dumps(good | row) + "\n")
    assert told in nws("judge", "x.jsonl", *JUDGE).err
    (tmp_path / "x.jsonl").write_text((json.dumps(good) + "\n") * 2)
    assert "line 2: system 'a' already has document '1'" in nws("judge", "x.jsonl", *JUDGE).err
    assert server.keys == []


@given(st.data())
def test_a_file_of_replies_that_was_cut_anywhere_loses_the_last_line_at_most(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("cut") / "x.replies.jsonl"
    lines = [json.dumps({"question": f"{i}", "reply": f"é\r\n {i}"}).encode() + b"\n" for i in range(3)]
    content = b"".join(lines)
    cut = data.draw(st.integers(0, len(content)))
    path.write_bytes(content[:cut])
    # A line that lacks its end alone is whole.
    left = sum(len(b"".join(lines[: i + 1])) - 1 <= cut for i in range(3))
    with open_replies(path) as (replies, file):
        assert list(replies) == ["0", "1", "2"][:left]
        file.write(b"".join(lines[left:]))
    assert list(read_replies(path.read_bytes())) == ["0", "1", "2"]


def test_what_is_no_reply_is_left_alone_and_two_processes_do_not_add_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "x.replies.jsonl"
    content = '{"system": "lead"}\nno JSON\n[]\n{"question": "a", "reply": 4}\n{"question": "b", "reply": "4"}\nnone'
    path.write_text(content)
    with open_replies(path) as (replies, _):
        assert list(replies) == ["b"]
        with pytest.raises(RecipeError, match="Another process writes to"), open_replies(path):
            pass
    assert path.read_text() == f"{content}\n"


@pytest.mark.usefixtures("server")
def test_replies_that_cannot_be_read_are_one_line_of_error(nws, file: str, tmp_path: Path) -> None:
    (tmp_path / "judged.replies.jsonl").mkdir()
    for more in ((), ("--dry-run",)):
        found = nws("judge", file, *JUDGE, *more)
        assert (found.code, found.out) == (2, "")
        assert found.err.splitlines()[-1].startswith("Error: judged.replies.jsonl cannot be read")
