"""Several texts for one summary of n words: which of them is kept, and how a model is asked to revise one."""

from collections.abc import Sequence
from dataclasses import replace

from core.metrics.surface import coverage
from core.summarizers.endpoint_replies import BACKEND, MOST_TOKENS, NOT_STATED, USAGE, EndpointAnswer
from core.summarizers.prompt_template import REVISE
from core.text.words import count_words

Message = dict[str, str]


def to_revise(answer: EndpointAnswer, n: int) -> list[Message]:
    """What follows in a conversation after an answer of another number of words."""
    told = REVISE.format(words=count_words(answer.text), n=n)
    return [{"role": "assistant", "content": answer.text}, {"role": "user", "content": told}]


def nearest(drafts: Sequence[EndpointAnswer], article: str, n: int) -> EndpointAnswer:
    """The draft whose number of words is nearest to n; of several the one that invents least; of equals the first.

    What it invents is judged by its coverage (`core.metrics.surface.coverage`): the share of its tokens that the
    article has. That needs neither a reference nor a model. It prefers what is copied to what is said in other words.
    """
    return min(drafts, key=lambda draft: (abs(count_words(draft.text) - n), -coverage(draft.text, article)))


def with_costs(chosen: EndpointAnswer, drafts: Sequence[EndpointAnswer], requests: int) -> EndpointAnswer:
    """The chosen draft with what all of them have cost: `requests`, and the tokens of those that were counted.

    Where several models have answered it is of them all: what one of them alone would have written nobody knows.
    """
    own = {name: value for name, value in chosen.extra.items() if name not in USAGE}
    for name in BACKEND:
        stated = dict.fromkeys(str(draft.extra.get(name, NOT_STATED)) for draft in drafts)
        own |= {name: ", ".join(stated)} if len(stated) > 1 else {}
    counts = {name: [int(draft.extra[name]) for draft in drafts if name in draft.extra] for name in USAGE}
    tokens = {name: sum(each) for name, each in counts.items() if each and sum(each) <= MOST_TOKENS}
    return replace(chosen, extra={**own, "requests": requests, **tokens})
