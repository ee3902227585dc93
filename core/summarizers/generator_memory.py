"""What a generator needs of a GPU's memory for a token of a batch."""

from typing import Any

import torch

# Tokens of articles and summaries in one batch, times beams. 32 articles of BART-large with 4 beams have 150,000: with
# all of them in one batch an H100 wrote 7.5 articles a second, and 0.9 in batches of 7 to 10.
MOST_GPU_TOKENS = 262_144
# Articles are padded to a multiple of this on a GPU: libraries prepare for each shape that they have not seen.
SOURCE_MULTIPLE = 64


def generator_bytes_per_token(model: torch.nn.Module, beams: int, window: int) -> int:
    """About how many bytes a token of a batch takes beside the weights, at most, where the tokens of all beams count.

    The decoder keeps keys and values of each token in each layer: of those it has written, and of those it attends to
    in the article, which it holds for each beam. The encoder's passes are over by then. They are as large as those of
    `core.token_budget.bytes_per_token`, with scores only where attention is not fused, and have no beams.

    Args:
        model: a transformer that writes.
        beams: of its search, at least 1.
        window: the most tokens that it reads.
    """
    config: Any = model.config
    config = config.get_text_config(decoder=True) if hasattr(config, "get_text_config") else config
    heads = _first(config, "decoder_attention_heads", "num_attention_heads")
    hidden = _first(config, "d_model", "hidden_size")
    layers = _first(config, "decoder_layers", "num_decoder_layers", "num_hidden_layers")
    head_size = _first(config, "head_dim", "d_kv", default=hidden // heads)
    cached = 2 * layers * (getattr(config, "num_key_value_heads", None) or heads) * head_size
    fused = getattr(config, "_attn_implementation", "eager") != "eager"
    passing = 16 * hidden + (0 if fused else 8 * heads * window)
    # An encoder reads the article once, its output is held for each beam; others read their prompt for each beam.
    needed = max(cached + hidden, passing / beams) if config.is_encoder_decoder else cached + passing
    return int(needed * next(model.parameters()).element_size())


def _first(config: Any, *names: str, default: int = 0) -> int:
    """The first of these that a config has: families call the same thing by several names."""
    values: list[int | None] = [getattr(config, name, None) for name in names]
    return next((value for value in values if value is not None), default)
