"""Signs that are no words: what tokenizers, chat templates, PDF files, web pages and wrong encodings leave in texts."""

SIGNS = {
    # "the ##th" of Gigaword is none, nor is a name of Malta.
    "subwords": (r"@@(?<=\w@@)(?=\s|$)|▁\w|Ġ\w+ ?Ġ\w|##(?<=\w ##)(?!(?:th|st|nd|rd|s|am|pm|km|mph|m|bn?|c|f)\b)[a-z]"),
    "special_tokens": (
        r"<extra_id_\d+>|\[/?INST\]|<</?SYS>>|</?(?:start|end)_of_turn>|<unk>|\[UNK\]|\[MASK\]|<mask>|<pad>"
    ),
    "ligatures": "[ﬀ-ﬆ]",
    "hyphens": r"-(?<=[^\W\d_]{2}-)(?<!-[lr][rsc]b-)\s+(?!(?:and|or|to|nor|but|versus|vs|und|oder|bis)\b)[^\W\d_]{2}",
    "escapes": r"\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}",
    "mojibake": "â€[™œ\x9d“”˜¦\x80-\xbf]|â\x80[\x80-\xbf]|Ã[\x80-\xbf]|Â[\xa0£°·»«]|ï»¿|\ufffd",
    "bbcode": r"(?i)\[/(?:b|i|u|s|url|img|quote|code|color|size|list)\]|\[url=",
    "formulas": r"@xmath\d*|@xcite",
}
"""A regular expression for each."""
LEAST_SHARES = {"hyphens": 0.1}  # one article in twenty has a dash without a blank before it
"""Of the rows: fewer may have a sign by chance. Of other signs, fewer than one in a hundred."""
MISSING = (
    r"(?i)\W*(?:n/?a|nan|nil|null|none|missing|unknown|undefined|tbd|todo|no summary(?: available)?|not available)\W*"
)
"""A whole text that stands for none."""
