"""What stands in files of texts and is no word: HTML, marks between sentences, tokens of the Penn Treebank.

It would count as words, and be scored. `clean_texts` of a dataset names the kinds that are removed.
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
# No parser reads it: one takes "<John Smith>" for a tag, "&copy" without its end for a sign, and all that follows a
# comment without end for a part of it. A tag here is one of HTML, whose attributes, if there are any, have values.
_HTML = re.compile(
    r"(?P<hidden><(script|style)\b[^<>]*>(?:(?!<\2).)*?</\2\s*>)|<!--(?:(?!<!--).)*?-->|"
    rf"</?(?:(?P<block>{_BLOCKS})|{_INLINE})(?:\s[^<>=]*=[^<>]*)?\s*/?>|"
    r"&(?P<sign>\#\d{1,7};|\#x[0-9a-f]{1,6};|[a-z][a-z0-9]{1,30};)",
    re.IGNORECASE | re.DOTALL,
)
_BRACKET = re.compile("-[LR][RSC]B-", re.IGNORECASE)
_TOKEN = re.compile(r"-[LR][RSC]B-|``|(?<=\w) (?:n['’]t|['’](?:s|m|d|re|ve|ll))(?=\s|$)", re.IGNORECASE)
_SPACED, _JOINED = re.compile(r"(?<=\w) [.,](?=\s|$)"), re.compile(r"\w[.,](?=\s|$)")
# nltk would join the words on both sides of these, and n counts words.
_APART = re.compile(r"( (?:--|\.\.\.) |(?<=#) )")
# Those of PreSumm, PEGASUS, fast_abs_rl, pointer-generator, arXiv, ProphetNet, BERT, CNN/DailyMail, Multi-News, chats
# and web pages. At last a line break that was escaped once too often; `C:\news` and `\neq` are none.
_MARK = re.compile(
    r"</?(?:q|n|t|s|sent|(?:[sx]_|doc-)?sep|[be]o[stu]|pad|cls|br)\s*/?>|\[(?:(?:[sx]_)?sep|cls|pad|[be]os|unused\d+)\]|"
    r"<\|\w+\|>|\|{3,}|__eo[tu]__|@highlight\b|\bstory_separator_special_tag\b|\bnewline_char\b|"
    r"(?-i:(?<=[.!?\"'”’)])\s?(?:(?:\\r)?\\n)+|(?:\\r)?(?<![:\\])\\n(?![a-z]))",
    re.IGNORECASE,
)


def _plain(found: re.Match[str]) -> str:
    """What a piece of HTML says: a character, a new line, or nothing."""
    if sign := found["sign"]:
        return html.unescape(found[0]) if sign[0] == "#" or sign in html5 else found[0]
    return "\n" if found["block"] or found["hidden"] else ""


def _find_html(text: str) -> re.Match[str] | None:
    return next((found for found in _HTML.finditer(text) if _plain(found) != found[0]), None)


def _without_ptb(text: str) -> str:
    if _find_ptb(text) is None:  # a text that was never tokenized stays as it is
        return text
    from nltk.tokenize.treebank import TreebankWordDetokenizer  # which takes two seconds

    join = TreebankWordDetokenizer().detokenize
    lines = [_APART.split(_BRACKET.sub(lambda bracket: bracket[0].upper(), line)) for line in text.split("\n")]
    for parts in lines:
        parts[::2] = [join(part.split(), convert_parentheses=True) for part in parts[::2]]
    return "\n".join(map("".join, lines))


def _find_ptb(text: str) -> re.Match[str] | None:
    """A token of the Penn Treebank; or a comma or full stop behind a blank, where most of a text stand so."""
    is_tokenized = len(_SPACED.findall(text)) > len(_JOINED.findall(text))
    return _TOKEN.search(text) or (_SPACED.search(text) if is_tokenized else None)


@dataclass(frozen=True, slots=True)
class Kind:
    """Marks of one kind: how the first in a text is found, and the text without them."""

    find: Callable[[str], re.Match[str] | None]
    remove: Callable[[str], str]


# In the order in which they work, that of their names: what HTML encodes may be a mark, and a sentence ends at one.
KINDS = {
    "html": Kind(_find_html, lambda text: _HTML.sub(_plain, _HTML.sub(_plain, text))),  # feeds have `&amp;quot;`
    "marks": Kind(_MARK.search, lambda text: _MARK.sub("\n", text)),
    "ptb": Kind(_find_ptb, _without_ptb),
}


@dataclass(frozen=True, slots=True)
class Preparation:
    """What is done to texts when they come in.

    Attributes:
        clean_texts: the kinds of marks that are removed, in the order in which they are: `html`, `marks`, `ptb`. A text
            has commas between them.
        join_references: whether the references of an article are the lines of one. Lines, as in CNN/DailyMail, since
            ROUGE-Lsum compares these; for ROUGE-N and BERTScore a new line is a blank.
        list_predictions: what is read of predictions that are lists.

    Raises:
        RecipeError: there is no such kind.
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
        """What is added to a signature: every option that changes a text; "" where none does."""
        ptb = f"ptb-nltk-{importlib.metadata.version('nltk')}"
        kinds = [ptb if kind == "ptb" else kind for kind in self.clean_texts]
        clean = f"|clean:{'+'.join(kinds)}" if kinds else ""
        return clean + "|references:joined" * self.join_references + LIST_MARKS[self.list_predictions]

    def text(self, text: str) -> str:
        """A text without marks: a new line where there was one between sentences. Without any it is as it was."""
        plain = text
        for kind in self.clean_texts:
            plain = KINDS[kind].remove(plain)
        return text if plain == text else cleaned("\n".join(filter(None, map(str.strip, plain.split("\n")))))

    def references(self, references: Iterable[str]) -> tuple[str, ...]:
        """References without marks; those that were nothing else are none."""
        plain = tuple(filter(None, map(self.text, references)))
        return ("\n".join(plain),) if self.join_references and plain else plain

    def article(self, article: Article) -> Article:
        """An article with its references. Where a text changes, so does its id."""
        if self == AS_IT_IS:
            return article
        return replace(article, text=self.text(article.text), references=self.references(article.references))


AS_IT_IS = Preparation()
