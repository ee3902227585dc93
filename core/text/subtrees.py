"""Subtrees: the parts of a parsed sentence without which the rest is still readable.

Deleting subtrees of a dependency tree is how sentences are compressed since Knight and Marcu (2000, "Statistics-Based
Summarization - Step One: Sentence Compression") and Filippova and Strube (2008, "Dependency Tree Based Sentence
Compression"). Here the tree is cut at adjuncts: an adjective, a prepositional phrase, a clause. What a head needs stays
with it: subject and object, auxiliaries, the parts of a name. So does what would otherwise reverse a statement:
negation, conditions, and words such as "alleged".
"""

from collections import Counter
from collections.abc import Sequence

from spacy.tokens import Token

from nws.core.text.cutting import Subtree

# Dependents that stay with their heads, by their labels in spaCy's English pipelines (those of ClearNLP).
_KEPT_WITH_HEAD = """
    acomp attr aux auxpass case cc ccomp compound csubj csubjpass dative dobj expl mark neg nsubj nsubjpass nummod oprd
    pcomp pobj preconj predet prt quantmod xcomp
"""
# "has denied" may become "denied", but "was jailed" stays: without "was", a victim may become a culprit.
_HAVE = ("had", "has", "have")
_BE = ("be", "been", "being")
# These stay, whatever their label, and so do modifiers with them: "no longer", "at no time".
_DECISIVE = """
    accused alleged allegedly almost attempted barely fake false few former hardly least likely most nearly neither no
    only possible potential purportedly rarely reportedly scarcely seldom supposedly suspected unlikely unproven
"""
_MODIFIERS = ("advmod", "amod", "det", "neg", "npadvmod", "nummod", "pobj", "predet", "prep", "quantmod")
_CONDITIONS = ("if", "unless")
# What somebody said may be alone, but who said it only together with it. What somebody claimed, denied or did not say
# may not be alone.
_SAYING = """
    added adds announced announces confirmed confirms explained explains found finds reported reports revealed reveals
    said says showed shows told tells
"""
_SUBJECTS = {"csubj", "csubjpass", "expl", "nsubj", "nsubjpass"}
_CONJUNCTIONS = {"cc", "mark"}


def subtrees(words: Sequence[Sequence[Token]], first: int) -> tuple[Subtree, ...]:
    """Return the subtrees of a sentence, ordered by their first words.

    Args:
        words: the tokens of each word of the sentence, without the punctuation around it.
        first: the position of the sentence's first word in the text.
    """
    tops = [min(tokens, key=_depth) for tokens in words]
    labels = [top.dep_ for top in tops]
    heads = _heads(words, tops)
    for i, label in enumerate(labels):
        if label == "cc":  # spaCy attaches "and" to the word before it, but here it belongs to the word after it
            behind = (j for j in range(i + 1, len(words)) if labels[j] == "conj" and heads[j] == heads[i])
            heads[i] = next(behind, heads[i])
    stays = _staying(words, tops, heads)
    said = {head: i for i, head in reversed(list(enumerate(heads))) if labels[i] == "ccomp" and not stays[i]}
    for verb, clause in said.items():
        if verb is not None and heads[verb] is None:
            heads[verb], heads[clause] = clause, None
    roots = [_root(i, heads, stays) for i in range(len(words))]
    parts: dict[int, list[int]] = {}
    for i, root in enumerate(roots):
        parts.setdefault(root, []).append(i)
    number = {root: k for k, root in enumerate(parts)}
    return tuple(
        Subtree(
            words=tuple(first + i for i in own),
            head=number[root] if (head := heads[root]) is None else number[roots[head]],
            begins=heads[root] is None or (root not in said and _stands_alone(tops[root])),
        )
        for root, own in parts.items()
    )


def _depth(token: Token) -> int:
    return sum(1 for _ in token.ancestors)


def _heads(words: Sequence[Sequence[Token]], tops: Sequence[Token]) -> list[int | None]:
    """Return the head of each word; None for the sentence's root."""
    word_of = {token.i: i for i, tokens in enumerate(words) for token in tokens}
    return [
        next((word_of[above.i] for above in top.ancestors if word_of.get(above.i, i) != i), None)
        for i, top in enumerate(tops)
    ]


def _staying(words: Sequence[Sequence[Token]], tops: Sequence[Token], heads: Sequence[int | None]) -> list[bool]:
    """Return whether each word is always kept together with its head."""
    auxiliaries = Counter(head for top, head in zip(tops, heads, strict=True) if top.dep_ in ("aux", "auxpass"))
    stays = [_is_needed(top, auxiliaries[head]) for top, head in zip(tops, heads, strict=True)]
    for i, tokens in enumerate(words):
        if any(token.dep_ == "neg" for token in tokens) or tops[i].lower_ in _DECISIVE.split():
            stays[i] = True
            above = heads[i]
            while above is not None and tops[above].dep_ in _MODIFIERS:
                stays[above], above = True, heads[above]
    return stays


def _is_needed(top: Token, auxiliaries: int) -> bool:
    """Return whether a word stays because of its label. Its head has `auxiliaries` auxiliary verbs."""
    negated = any(child.dep_ == "neg" for child in top.head.children)
    if top.dep_ == "ccomp":
        return negated or top.head.lower_ not in _SAYING.split()
    if top.dep_ == "aux" and top.lower_ in _HAVE:
        return negated or auxiliaries > 1 or top.head.lower_ in _BE
    if top.dep_ == "advcl":
        return any(child.lower_ in _CONDITIONS for child in top.children)
    return top.dep_ in _KEPT_WITH_HEAD.split() and top.lower_ != "that"


def _root(word: int, heads: Sequence[int | None], stays: Sequence[bool]) -> int:
    while (head := heads[word]) is not None and stays[word]:
        word = head
    return word


def _stands_alone(top: Token) -> bool:
    """Return whether a clause in a sentence can begin a summary: it has a subject, and no conjunction."""
    labels = {child.dep_ for child in top.children if child.lower_ != "that"}
    return top.dep_ in ("ccomp", "conj", "parataxis") and bool(labels & _SUBJECTS) and not labels & _CONJUNCTIONS
