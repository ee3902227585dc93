"""Tiny, randomly initialised checkpoints of the study's architectures, made where they are needed."""

from pathlib import Path

import torch
from tokenizers.pre_tokenizers import ByteLevel
from transformers import (
    BertConfig,
    BertModel,
    BertTokenizer,
    ElectraConfig,
    ElectraModel,
    ElectraTokenizer,
    GPT2Config,
    GPT2Model,
    GPT2Tokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    RobertaConfig,
    RobertaModel,
    RobertaTokenizer,
    XLNetConfig,
    XLNetModel,
    XLNetTokenizer,
)

_PIECES = [*"abcdefghijklmnopqrstuvwxyz0123456789.,'-", "the", "of", "to", "in", "said", "news", "cat", "city"]
_SIZE = {"num_hidden_layers": 2, "hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64}


def make_bert(folder: Path) -> Path:
    tokenizer = BertTokenizer(vocab=_wordpieces())
    config = BertConfig(vocab_size=len(tokenizer), max_position_embeddings=128, **_SIZE)
    return _save(folder, BertModel(_seeded(config)), tokenizer)


def make_electra(folder: Path) -> Path:
    tokenizer = ElectraTokenizer(vocab=_wordpieces())
    config = ElectraConfig(vocab_size=len(tokenizer), embedding_size=16, max_position_embeddings=128, **_SIZE)
    return _save(folder, ElectraModel(_seeded(config)), tokenizer)


def make_roberta(folder: Path) -> Path:
    """Its positions start after the padding index; its tokenizer states no maximum."""
    tokenizer = _byte_level(RobertaTokenizer)
    config = RobertaConfig(vocab_size=len(tokenizer), max_position_embeddings=258, pad_token_id=1, **_SIZE)
    return _save(folder, RobertaModel(_seeded(config)), tokenizer)


def make_gpt2(folder: Path) -> Path:
    """Positions are absolute, attention is causal, there is no padding token, and padding is on the left."""
    tokenizer = _byte_level(GPT2Tokenizer, padding_side="left")
    config = GPT2Config(vocab_size=len(tokenizer), n_positions=256, n_embd=32, n_layer=2, n_head=2)
    return _save(folder, GPT2Model(_seeded(config)), tokenizer)


def _byte_level(tokenizer: type[PreTrainedTokenizerBase], **options: str) -> PreTrainedTokenizerBase:
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "<|endoftext|>"]
    pieces = [*special, *sorted(ByteLevel.alphabet())]
    return tokenizer(vocab={piece: i for i, piece in enumerate(pieces)}, merges=[], **options)


def make_xlnet(folder: Path) -> Path:
    special = ["<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>", "<eod>", "<eop>"]
    pieces = [(piece, 0.0) for piece in special] + [("▁", -3.0)]
    pieces += [(piece, -4.0) for piece in _PIECES] + [(f"▁{piece}", -5.0) for piece in _PIECES]
    tokenizer = XLNetTokenizer(vocab=pieces)
    config = XLNetConfig(vocab_size=len(tokenizer), d_model=32, n_layer=2, n_head=2, d_inner=64)
    return _save(folder, XLNetModel(_seeded(config)), tokenizer)


def _wordpieces() -> dict[str, int]:
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *_PIECES, *(f"##{piece}" for piece in _PIECES)]
    return {word: i for i, word in enumerate(words)}


def _seeded(config: object) -> object:
    torch.manual_seed(0)
    return config


def _save(folder: Path, model: PreTrainedModel, tokenizer: object) -> Path:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
