"""Subtrees: the parts of a parsed sentence that can be left out, and the rest still read.

Deleting subtrees of a dependency tree is how sentences are compressed since Knight and Marcu (2000, "Statistics-Based
Summarization - Step One: Sentence Compression") and Filippova and Strube (2008, "Dependency Tree Based Sentence
Compression"). Here the tree is cut where an adjunct hangs: an adjective, a prepositional phrase, a clause. What a head
cannot go without stays with it: subject and object, auxiliaries, negation, the parts of a name.
"""

from collections.abc import Sequence

from spacy.tokens import Token

from core.text.cutting import Subtree

# Dependents that stay with their heads, by their labels in spaCy's English pipelines (ClearNLP's).
_KEPT_WITH_HEAD = """
    acomp attr case cc compound csubj csubjpass dative dobj expl mark neg nsubj nsubjpass nummod oprd pcomp pobj preconj
    predet prt quantmod xcomp
"""
# Auxiliaries, too, but for these, which headlines leave out.
_BE_AND_HAVE = "am are be been being had has have is was were"
_AFTER_AUXILIARY = ("be", "been", "being")
_AUXILIARIES = ("aux", "auxpass")
# And these stay, whatever their label: without them a text says something else.
_DECISIVE = """
    accused alleged allegedly almost attempted barely fake false few former hardly least likely most nearly neither no
    only possible potential reportedly suspected unlikely
"""
# Clauses that can stand alone, with a subject, and without a conjunction. What somebody said is one, not what he
# denied.
_CLAUSES = ("advcl", "ccomp", "conj", "parataxis")
_SAYING = """
    added announced confirmed found reported reveal revealed said say saying says showed shows told warned
"""
_SUBJECTS = {"csubj", "csubjpass", "expl", "nsubj", "nsubjpass"}
_CONJUNCTIONS = {"cc", "mark"}


def subtrees(words: Sequence[Sequence[Token]], first: int) -> tuple[Subtree, ...]:
    """The subtrees of a sentence, ordered by their first words.

    Args:
        words: the tokens of each of its words, without the punctuation around it.
        first: the position of its first word in the text.
    """
    tops = [min(tokens, key=_depth) for tokens in words]
    labels = [top.dep_ for top in tops]
    heads = _heads(words, tops)
    for i, label in enumerate(labels):
        if label == "cc":  # spaCy hangs "and" on what stands before it; it goes with what stands behind
            behind = (j for j in range(i + 1, len(words)) if labels[j] == "conj" and heads[j] == heads[i])
            heads[i] = next(behind, heads[i])
        elif tops[i].lower_ in _AFTER_AUXILIARY:  # "has been" goes whole, and "will be" stays
            before = (j for j in reversed(range(i)) if labels[j] in _AUXILIARIES and heads[j] == heads[i])
            heads[i] = next(before, heads[i])
    negates = [any(token.dep_ == "neg" for token in tokens) for tokens in words]  # "wasn't", too
    stays = [
        negates[i] or _stays(top, head is not None and labels[head] in _AUXILIARIES)
        for i, (top, head) in enumerate(zip(tops, heads, strict=True))
    ]
    roots = [_root(i, heads, stays) for i in range(len(words))]
    parts: dict[int, list[int]] = {}
    for i, root in enumerate(roots):
        parts.setdefault(root, []).append(i)
    number = {root: k for k, root in enumerate(parts)}
    return tuple(
        Subtree(
            words=tuple(first + i for i in own),
            head=number[root] if (head := heads[root]) is None else number[roots[head]],
            begins=heads[root] is None or _stands_alone(tops[root]),
        )
        for root, own in parts.items()
    )


def _depth(token: Token) -> int:
    return sum(1 for _ in token.ancestors)


def _heads(words: Sequence[Sequence[Token]], tops: Sequence[Token]) -> list[int | None]:
    """The word that each word hangs on; None for that of the sentence's root."""
    word_of = {token.i: i for i, tokens in enumerate(words) for token in tokens}
    return [
        next((word_of[above.i] for above in top.ancestors if word_of.get(above.i, i) != i), None)
        for i, top in enumerate(tops)
    ]


def _stays(top: Token, after_auxiliary: bool) -> bool:
    """Whether a word is kept wherever its head is."""
    word = top.lower_
    if top.dep_ in _AUXILIARIES:
        return after_auxiliary or word not in _BE_AND_HAVE.split() or top.head.lower_ in _AFTER_AUXILIARY
    return word in _DECISIVE.split() or (top.dep_ in _KEPT_WITH_HEAD.split() and word != "that")


def _root(word: int, heads: Sequence[int | None], stays: Sequence[bool]) -> int:
    while (head := heads[word]) is not None and stays[word]:
        word = head
    return word


def _stands_alone(top: Token) -> bool:
    if top.dep_ == "ccomp" and (top.head.lower_ not in _SAYING.split() or "neg" in {c.dep_ for c in top.head.children}):
        return False
    labels = {child.dep_ for child in top.children if child.lower_ != "that"}
    return top.dep_ in _CLAUSES and bool(labels & _SUBJECTS) and not labels & _CONJUNCTIONS
