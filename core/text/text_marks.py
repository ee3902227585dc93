"""Marks in texts that are not words: HTML, marks between sentences, tokens of the Penn Treebank.

They would count as words, and be scored. `clean_texts` of a dataset names the kinds to remove.
"""

import html
import importlib.metadata
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from html.entities import html5

from nws.core.article import Article
from nws.core.errors import RecipeError
from nws.core.text.rows import LIST_MARKS, Lists, cleaned

_BLOCKS = (
    "article|body|footer|head(?:er)?|html|main|summary|title|"
    "[dou]l|blockquote|br|d[dt]|div|fig(?:ure|caption)|h[1-6]|hr|li|p|section|t[dhr]|table|tbody"
)
_INLINE = "a|b|big|cite|code|em|font|i|iframe|img|small|source|span|strike|strong|su[bp]|time|u|video|wbr"
# A parser would take "<John Smith>" for a tag, "&copy" without a semicolon for a sign, and everything after an open
# comment for a part of it. Here only HTML's own tags count, and only if all their attributes have values.
_HTML = re.compile(
    r"(?P<hidden><(script|style)\b[^<>]*>(?:(?!<\2).)*?</\2\s*>)|<!--(?:(?!<!--).)*?-->|"
    rf"</?(?:(?P<block>{_BLOCKS})|{_INLINE})(?:\s[^<>=]*=[^<>]*)?\s*/?>|"
    r"&(?P<sign>\#\d{1,7};|\#x[0-9a-f]{1,6};|[a-z][a-z0-9]{1,30};)",
    re.IGNORECASE | re.DOTALL,
)
_BRACKET = re.compile("-[LR][RSC]B-", re.IGNORECASE)
_TOKEN = re.compile(r"-[LR][RSC]B-|``|(?<=\w) (?:n['’]t|['’](?:s|m|d|re|ve|ll))(?=\s|$)", re.IGNORECASE)
_SPACED, _JOINED = re.compile(r"(?<=\w) [.,](?=\s|$)"), re.compile(r"\w[.,](?=\s|$)")
# nltk would join the words on both sides of these, which would change the number of words.
_APART = re.compile(r"( (?:--|\.\.\.) |(?<=#) )")
# Marks of PreSumm, PEGASUS, fast_abs_rl, pointer-generator, arXiv, ProphetNet, BERT, CNN/DailyMail, Multi-News, chats
# and web pages. The last is a line break that was escaped once too often, unlike `C:\news` and `\neq`.
_MARK = re.compile(
    r"</?(?:q|n|t|s|sent|(?:[sx]_|doc-)?sep|[be]o[stu]|pad|cls|br)\s*/?>|\[(?:(?:[sx]_)?sep|cls|pad|[be]os|unused\d+)\]|"
    r"<\|\w+\|>|\|{3,}|__eo[tu]__|@highlight\b|\bstory_separator_special_tag\b|\bnewline_char\b|"
    r"(?-i:(?<=[.!?\"'”’)])\s?(?:(?:\\r)?\\n)+|(?:\\r)?(?<![:\\])\\n(?![a-z]))",
    re.IGNORECASE,
)


def _plain(found: re.Match[str]) -> str:
    """Return the text that a piece of HTML stands for: a character, a new line, or nothing."""
    if sign := found["sign"]:
        return html.unescape(found[0]) if sign[0] == "#" or sign in html5 else found[0]
    return "\n" if found["block"] or found["hidden"] else ""


def _find_html(text: str) -> re.Match[str] | None:
    return next((found for found in _HTML.finditer(text) if _plain(found) != found[0]), None)


def _without_ptb(text: str) -> str:
    if _find_ptb(text) is None:  # a text that was never tokenized stays as it is
        return text
    from nltk.tokenize.treebank import TreebankWordDetokenizer  # imported here because it takes two seconds

    join = TreebankWordDetokenizer().detokenize
    lines = [_APART.split(_BRACKET.sub(lambda bracket: bracket[0].upper(), line)) for line in text.split("\n")]
    for parts in lines:
        parts[::2] = [join(part.split(), convert_parentheses=True) for part in parts[::2]]
    return "\n".join(map("".join, lines))


def _find_ptb(text: str) -> re.Match[str] | None:
    """Find a token of the Penn Treebank, or a comma or full stop after a blank in a text where most are like this."""
    is_tokenized = len(_SPACED.findall(text)) > len(_JOINED.findall(text))
    return _TOKEN.search(text) or (_SPACED.search(text) if is_tokenized else None)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of marks, with functions that find the first one in a text, and remove all of them."""

    find: Callable[[str], re.Match[str] | None]
    remove: Callable[[str], str]


# In the order in which they are applied, which is alphabetical: HTML may encode marks, and sentences end at marks.
KINDS = {
    "html": Kind(_find_html, lambda text: _HTML.sub(_plain, _HTML.sub(_plain, text))),  # feeds have `&amp;quot;`
    "marks": Kind(_MARK.search, lambda text: _MARK.sub("\n", text)),
    "ptb": Kind(_find_ptb, _without_ptb),
}


@dataclass(frozen=True, slots=True)
class Preparation:
    """How to change texts from outside.

    Attributes:
        clean_texts: the kinds of marks to remove, in the order `html`, `marks`, `ptb`; as a text, separated by commas.
        join_references: whether to join the references of an article as the lines of one. They are lines, as in
            CNN/DailyMail, since ROUGE-Lsum compares lines; for ROUGE-N and BERTScore a new line is a blank.
        list_predictions: how to read predictions that are lists.

    Raises:
        RecipeError: there is no such kind of marks.
    """

    clean_texts: str | Sequence[str] = ()
    join_references: bool = False
    list_predictions: Lists = "join"

    def __post_init__(self) -> None:
        names = self.clean_texts.split(",") if isinstance(self.clean_texts, str) else self.clean_texts
        kinds = tuple(sorted({name.strip() for name in names if name.strip()}))
        if unknown := [kind for kind in kinds if kind not in KINDS]:
            raise RecipeError(f"clean_texts takes {', '.join(KINDS)}, not {unknown[0]!r}.", settings=("clean_texts",))
        object.__setattr__(self, "clean_texts", kinds)  # a frozen dataclass sets its own fields this way

    @property
    def signature(self) -> str:
        """The part of a signature with every option that changes texts; "" if there is none."""
        ptb = f"ptb-nltk-{importlib.metadata.version('nltk')}"
        kinds = [ptb if kind == "ptb" else kind for kind in self.clean_texts]
        clean = f"|clean:{'+'.join(kinds)}" if kinds else ""
        return clean + "|references:joined" * self.join_references + LIST_MARKS[self.list_predictions]

    def text(self, text: str) -> str:
        """Return a text without marks. Marks between sentences become line breaks. Other texts are not changed."""
        plain = text
        for kind in self.clean_texts:
            plain = KINDS[kind].remove(plain)
        return text if plain == text else cleaned("\n".join(filter(None, map(str.strip, plain.split("\n")))))

    def references(self, references: Iterable[str]) -> tuple[str, ...]:
        """Return the references without marks, leaving out those that were only marks."""
        plain = tuple(filter(None, map(self.text, references)))
        return ("\n".join(plain),) if self.join_references and plain else plain

    def article(self, article: Article) -> Article:
        """Return an article with changed text and references. If they change, so does its id."""
        if self == AS_IT_IS:
            return article
        return replace(article, text=self.text(article.text), references=self.references(article.references))


AS_IT_IS = Preparation()
