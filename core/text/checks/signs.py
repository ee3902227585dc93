"""Signs that are no words: what tokenizers, chat templates, PDF files, web pages and wrong encodings leave in texts."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sign:
    """A sign: the name of its check, a regular expression, the sentence's verb, and what to do.

    Fewer than `least_share` of the rows may have it by chance.
    """

    name: str
    pattern: str
    says: str
    advice: str
    least_share: float = 0.01


SIGNS = (
    Sign(
        "subwords",
        r"@@(?<=\w@@)(?=\s|$)|▁\w|##(?<=\w ##)(?!(?:th|st|nd|rd|s|am|pm|km|mph|m|bn?|c|f)\b)[a-z]",  # "the ##th"
        "are cut into the pieces of a tokenizer",
        "Decode them with that tokenizer.",
    ),
    Sign(
        "special_tokens",
        r"<extra_id_\d+>|\[/?INST\]|<</?SYS>>|</?(?:start|end)_of_turn>|<unk>|\[UNK\]|\[MASK\]|<mask>|<pad>",
        "hold special tokens of a model",
        "Decode with skip_special_tokens=True.",
    ),
    Sign("ligatures", "[ﬀ-ﬆ]", "hold ligatures, as PDF files do", "Normalise them to NFKC."),
    Sign(
        "hyphens",
        r"-(?<=[^\W\d_]{2}-)(?<!-[lr][rsc]b-)\s+(?!(?:and|or|to|nor|but|versus|vs|und|oder|bis)\b)[^\W\d_]{2}",
        "hold words that the end of a line has cut",
        "Join their parts.",
        0.1,  # one article in twenty has a dash without a blank before it
    ),
    Sign("escapes", r"\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}", "hold escaped characters", "Decode them."),
    Sign(
        "mojibake",
        "â€[™œ\x9d“”˜¦\x80-\xbf]|â\x80[\x80-\xbf]|Ã[\x80-\xbf]|Â[\xa0£°·»«]|ï»¿|\ufffd",
        "were read in a wrong encoding",
        "Read the original as UTF-8, or repair the texts with ftfy.",
    ),
    Sign(
        "bbcode", r"(?i)\[/(?:b|i|u|s|url|img|quote|code|color|size|list)\]|\[url=", "hold BBCode", "Remove the tags."
    ),
    Sign("formulas", r"@xmath\d*|@xcite", "hold placeholders for formulas and citations", "They count as words."),
)
MISSING = (
    r"(?i)\W*(?:n/?a|nan|nil|null|none|missing|unknown|undefined|tbd|todo|no summary(?: available)?|not available)\W*"
)
"""A whole text that stands for none."""
