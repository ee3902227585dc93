"""The file of replies: whatever ends a process, what was paid for is there, and nothing else is taken for a reply."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import CorpusError, RecipeError
from core.models.endpoint import EndpointAnswer
from jobs.tools.judge_questions import JudgeQuestion
from jobs.tools.judge_replies import Replies, open_replies

EXTRA: dict[str, float | str] = {"answered_by": "tiny", "prompt_tokens": 7, "completion_tokens": 1}


def asked(text: str) -> JudgeQuestion:
    return JudgeQuestion(text, "lead, a1", "judge|tiny")


def fill(path: Path, texts: list[str]) -> bytes:
    with open_replies(path, to_write=True) as replies:
        for text in texts:
            replies.add(asked(text), EndpointAnswer(f"reply to {text}", EXTRA), lambda reply: 4)
    return path.read_bytes()


def test_a_reply_is_found_again_by_what_was_asked(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    line = json.loads(fill(path, ["one"]))
    assert line == {
        **{"question": asked("one").key, "about": "lead, a1", "made_by": "judge|tiny"},
        **{"verdict": 4, "reply": "reply to one", "answered_by": "tiny", "prompt_tokens": 7, "completion_tokens": 1},
    }
    with open_replies(path, to_write=False) as replies:
        found = replies.get(asked("one"))
        assert found is not None
        assert (found.text, found.finish, found.answered_by, dict(found.tokens)) == (
            "reply to one",
            None,
            "tiny",
            {"prompt_tokens": 7, "completion_tokens": 1},
        )
        assert replies.get(asked("two")) is None


@given(st.data())
def test_a_file_that_was_cut_anywhere_loses_the_last_line_at_most(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("cut") / "x.jsonl"
    texts = [f"é {i}\r\n" for i in range(3)]
    content = fill(path, texts)
    cut = data.draw(st.integers(0, len(content)))
    path.write_bytes(content[:cut])
    ends = [i + 1 for i, byte in enumerate(content) if byte == ord("\n")]
    # A line that lacks its end alone is whole.
    left = sum(end - 1 <= cut for end in ends)
    with open_replies(path, to_write=False) as replies:
        assert [replies.get(asked(text)) is not None for text in texts] == [i < left for i in range(3)]
    assert path.read_bytes() == content[:cut], "who only looks changes nothing"
    assert fill(path, texts[left:]) == content


@pytest.mark.parametrize(
    "content",
    ['{"system": "lead"}\n', "no JSON", "[]\n", '{"question": "a", "reply": 4}\n', '{"question": 1\n'],
)
def test_what_is_no_reply_is_left_alone_and_told(tmp_path: Path, content: str) -> None:
    path = tmp_path / "x.jsonl"
    whole = fill(path, ["one"]).decode() + content
    path.write_text(whole)
    with pytest.raises(CorpusError, match=r"x\.jsonl, line 2: this is no reply that nws judge has kept"):
        fill(path, ["two"])
    assert path.read_text() == whole


def test_two_processes_do_not_pay_for_the_same(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    with (
        open_replies(path, to_write=True),
        pytest.raises(RecipeError, match="Another process adds to"),
        open_replies(path, to_write=True),
    ):
        pass
    assert fill(path, ["one"])


class _NearlyFull(io.BytesIO):
    def write(self, data: Any) -> int:
        return super().write(data[:5])


def test_a_line_that_could_be_written_in_part_only_is_told(tmp_path: Path) -> None:
    replies = Replies(tmp_path / "x.jsonl", _NearlyFull(), {})
    with pytest.raises(OSError, match="No space left on device"):
        replies.add(asked("one"), EndpointAnswer("4", EXTRA), lambda reply: 4)
    assert replies.get(asked("one")) is None
