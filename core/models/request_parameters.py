"""The parameters of a request to an endpoint: those of NWS, what people make of them, and advice on refused ones."""

import json
import os
import re
from collections.abc import Mapping
from typing import Any

from nws.core.errors import RecipeError
from nws.core.text.rows import cleaned

# The environment variable with the key of an endpoint. What is shorter is a placeholder, such as "none".
KEY_VARIABLE, _SHORTEST_KEY = "OPENAI_API_KEY", 8
_OWN = ("model", "messages", "stream", "n")
# What endpoints call the same. A request has one of the names at most, unless people name two.
_TOKENS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens")
_SAME = (_TOKENS, ("seed", "random_seed"))
# In JSON: a name, or a text that begins as keys do.
_SECRET = re.compile(
    r'"(?P<name>[^"]*headers?|[^"]*(?:authorization|credential|password|secret)[^"]*|[^"]*(?:api|access|auth|'
    r'bearer|private)[-_ ]?(?:key|token)[^"]*)":|\bbearer\s+\S{16}|\b(?:sk|gsk|xai|hf)[-_][\w-]{16}',
    re.IGNORECASE,
)


def plain_parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that people name, in plain JSON and in alphabetical order.

    What stands in `extra_body`, as for the client of `openai`, stands beside the others.

    Raises:
        RecipeError: a value is no JSON, NWS sets the parameter itself, or it looks like a secret, which would be
            stored.
    """
    extra = given.get("extra_body") or {}
    if not isinstance(extra, Mapping):
        raise RecipeError(f"extra_body holds parameters by their names, such as {{top_k: 20}}, not {extra!r}.")
    parameters = {name: value for name, value in given.items() if name != "extra_body"} | dict(extra)
    try:
        text = json.dumps(parameters, allow_nan=False, sort_keys=True, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise RecipeError(f"an endpoint's parameters are sent as JSON, which these cannot be: {error}.") from error
    if cleaned(text) != text or r"\u0000" in text:
        raise RecipeError("an endpoint's parameters hold a NUL, or bytes that are no UTF-8.")
    if own := [name for name in _OWN if name in parameters]:
        raise RecipeError(f"{own[0]} is set by NWS itself: take it out of the endpoint's parameters.")
    key = os.environ.get(KEY_VARIABLE, "").strip()
    if (found := _SECRET.search(text)) or (len(key) >= _SHORTEST_KEY and key in text):
        named = repr(found["name"]) if found and found["name"] else "a parameter"
        raise RecipeError(f"{named} looks like a header or a key, which may not be stored: take it out of parameters.")
    return dict(json.loads(text))


def filled(parameters: Mapping[str, Any], computed: Mapping[str, Any]) -> dict[str, Any]:
    """What is sent: the parameters that NWS computes, as people's `parameters` change them.

    One of theirs replaces the computed one of its name, or of another name for the same. None leaves it out, and the
    name of a computed one (`max_completion_tokens: max_tokens`) stands for its value, which has no other name then.
    """
    stated = {name for name, value in parameters.items() if value is not None}
    replaced = {name for names in _SAME if stated & {*names} for name in names}
    replaced |= {value for value in parameters.values() if isinstance(value, str)}
    sent = {name: value for name, value in computed.items() if name not in replaced}
    sent |= {name: computed.get(v, v) if isinstance(v, str) else v for name, v in parameters.items()}
    return {name: value for name, value in sent.items() if value is not None}


def token_limit(sent: Mapping[str, Any]) -> int | None:
    """How many tokens a request lets a model write; None where it does not say."""
    return next((sent[name] for name in _TOKENS if isinstance(sent.get(name), int)), None)


def advice_on(refusal: str, sent: Mapping[str, Any]) -> str:
    """How to send a request that is not refused, if the refusal names one of its parameters; else "".

    Args:
        refusal: what the endpoint says.
        sent: all of the request, by name.
    """
    named = next((word for word in re.findall(r"\w+", refusal) if word in sent and word not in _OWN), None)
    if named is None:
        return ""
    return (
        f'Set "parameters: {{{named}: null}}" of the endpoint to leave it out, or {{NEW_NAME: {named}}} to send it '
        "under another name."
    )
