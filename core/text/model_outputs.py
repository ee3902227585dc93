"""The summary in a language model's output: without its thoughts and, if requested, without markup and preamble.

Thoughts are between tags (`<think>` of DeepSeek and Qwen, `[THINK]` of Mistral, `◁think▷` of Kimi) or in the analysis
channel of OpenAI's harmony format. Templates often write the opening tag into the prompt, so a closing tag is enough.
"""

import re
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, get_args

from nws.core.errors import RecipeError, did_you_mean
from nws.core.text.length import MAX_CHARACTERS
from nws.core.text.rows import cleaned

Cleaning: TypeAlias = Literal["thoughts", "markup", "preamble"]
# A summary (None if the output ends within its thoughts), and under the name `RAW` the output, if it differs.
CleanOutput: TypeAlias = tuple[str | None, dict[str, float | str]]
DEFAULT_CLEANING: tuple[Cleaning, ...] = ("thoughts",)
CUT_THOUGHTS = "ends within its thoughts: raise the limit of tokens where it is written (max_tokens, max_new_tokens)."
CLEANING_MARK = "clean_outputs="
RAW = "raw_text"  # the key of `Summary.extra` with the model's output, if cleaning has changed it

_TAGS = r"(?:think|thinking|thought|thoughts|reasoning|seed:think)"
_OPENED = re.compile(rf"(?:<|◁)(?i:{_TAGS})(?:>|▷)|\[THINK\]")
_CLOSED = re.compile(rf"(?:<|◁)/(?i:{_TAGS})(?:>|▷)|\[/THINK\]")
# Harmony: https://github.com/openai/harmony, docs/format.md. Without its special tokens, "analysis" and "final" are
# joined to the words around them, which no ordinary text has.
_HARMONY = re.compile(r"(?s).*<\|(?:channel|message)\|>|\s*(?:assistant)?analysis(?:[A-Z]|(?=\S).*assistantfinal)")
_FINAL_SIGNS = r"<\|channel\|>\s*final\b[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>|assistantfinal"
_FINAL = re.compile(rf"(?s).*(?:{_FINAL_SIGNS})(.*?)(?:<\|\w+\|>.*)?")

_SUBJECT = r"\b(?:summar(?:y|ies)|headlines?|titles?|tl;?dr|sentences?|words?|version|points?|요약\w*|제목\w*)"
_ASSENT = r"(?:sure(?: thing)?|certainly|of course|absolutely|okay|ok|alright|got it|물론입니다|네)\s*[!,.:—–-]+\s*"
# Up to a colon at the end of the line, or any colon after a word for a summary.
_HERE = (
    r"(?:here(?:['’]s| is| are| it is| you go)|(?:below|this|the following) is|다음은)\b"
    rf"(?:(?=[^:\n]*{_SUBJECT})[^:\n]{{1,120}}:|[^:\n]{{0,120}}:(?=[*_]*\s*\n))"
)
_LABEL = (
    r"(?:(?:the|a|concise|brief|short|final|news|(?:\w+[- ]){1,2}words?)\s+){0,3}"
    r"(?:summary|headline|title|tl;?dr|요약문?|제목)(?:\s+(?:in|of)\s[^:\n]{1,60})?(?:\s*\([^()\n]{1,40}\))?\s*(?::|(?=[*_]*\s*\n))"
)
_PREAMBLE = re.compile(
    rf"\s*(?:#{{1,6}}\s+)?(?P<open>[*_\"“]*)(?:(?:{_ASSENT})?(?:{_HERE}|{_LABEL})"
    r"|(?:sure|certainly|of course|absolutely)!)(?P<close>[*_]*)\s*",
    re.IGNORECASE,
)

# A text may begin with "2. Bundesliga", but a list begins with 1.
_LINE_MARKS = re.compile(
    r"(?m)^[ \t]*(?:(?:```|~~~)[^\n]*$|(?:#{1,6}|>|[-*+•‣▪–]|1[.)])[ \t]+)|(?<=\n)[ \t]*\d{1,2}[.)][ \t]+"
)
_INLINE = (
    re.compile(r"(\*\*|__|~~|`)(?=\S)(.{1,1000}?)(?<=\S)\1"),
    re.compile(r"(?<![\w*])([*_])(?=\S)([^*_\n]{1,1000}?)(?<=\S)\1(?![\w*])"),
)
_QUOTED = re.compile(r"[\"“”„«「]([^\"“”„«»「」]+)[\"“”»」]|['‘]((?:[^'‘’]|(?<=\w)['’](?=\w))+)['’]")
# Texts are stored on one line, so a sign that began a line may be anywhere.
LOOKS_MARKED = re.compile(r"\*\*\S|__\S|```|^\s*(?:#{1,6}|[-*+•‣▪]|1[.)])\s|\s#{2,6}\s")


def parse_cleaning(value: Any) -> Any:
    """Return what to remove, from names in a list or separated by commas; nothing for no name or `none`.

    Raises:
        RecipeError: a name is unknown.
    """
    names = [name.strip() for name in value.split(",")] if isinstance(value, str) else list(value or ())
    kinds = get_args(Cleaning)
    if unknown := [name for name in names if name not in (*kinds, "", "none")]:
        told = f"clean_outputs takes {', '.join(kinds)} or none, not {unknown[0]!r}."
        raise RecipeError(told + did_you_mean(str(unknown[0]), kinds), settings=("clean_outputs",))
    return tuple(kind for kind in kinds if kind in names)


def cleaning_mark(cleaning: Sequence[Cleaning]) -> str:
    """Return the part of a signature that names what is removed; "" for thoughts alone, the default."""
    return "" if tuple(cleaning) == DEFAULT_CLEANING else f"|{CLEANING_MARK}{'+'.join(cleaning) or 'none'}"


def clean_output(text: str, cleaning: Sequence[Cleaning]) -> CleanOutput:
    """Return the summary in an output, and the output itself if it has other words."""
    summary = without_thoughts(text) if "thoughts" in cleaning else text
    if summary is not None and len(summary) <= MAX_CHARACTERS:  # longer ones are refused later
        for kind, without in _STEPS:
            summary = without(summary) if kind in cleaning else summary
    is_same = summary is not None and summary.split() == text.split()
    return summary, {} if is_same else {RAW: cleaned(text)}


def joined_parts(content: object) -> object:
    """Return the content of a message. For a list of parts, such as thoughts or citations, return only their texts."""
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        return content
    return "".join(text for part in content if isinstance(text := part.get("text"), str))


def without_thoughts(text: str) -> str | None:
    """Return the text after the last thoughts of an output; None if the output ends within its thoughts."""
    if _HARMONY.match(text):  # without a final channel, it is like a tag that is never closed
        text = final[1] if (final := _FINAL.fullmatch(text)) else "<think>"
    rest = text[max((tag.end() for tag in _CLOSED.finditer(text)), default=0) :]
    return None if _OPENED.search(rest) else rest


def opened_thoughts(prompt: str) -> str:
    """Return the tag at the end of a prompt that opens thoughts; "" if there is none."""
    tag = re.search(rf"(?:{_OPENED.pattern})\s*\Z", prompt)
    return tag[0] if tag else ""


def without_preamble(text: str) -> str:
    """Return an output without a beginning such as "Here is a summary in 9 words:" or "**Summary:**"."""
    match = _PREAMBLE.match(text)
    rest = text[match.end() :] if match else ""
    return (match["open"] * (not match["close"]) + rest) if match and rest.strip() else text


def without_markup(text: str) -> str:
    """Return an output without Markdown (bold, italics, headings, bullets, code fences) and quotes around the whole."""
    text = _LINE_MARKS.sub("", text)
    for pattern in _INLINE:
        text = pattern.sub(r"\2", text)
    quoted = _QUOTED.fullmatch(text.strip())
    return (quoted[1] or quoted[2]) if quoted else text


# The preamble is removed again after the markup, since markup may have been around it.
_STEPS = (("preamble", without_preamble), ("markup", without_markup), ("preamble", without_preamble))
