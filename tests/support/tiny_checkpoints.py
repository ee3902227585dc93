"""Tiny, randomly initialised checkpoints of the study's architectures, made where they are needed."""

from collections.abc import Sequence
from pathlib import Path

import torch
import transformers as hf
from tokenizers.pre_tokenizers import ByteLevel

from nws.core.text.dataset import BUNDLED

_PIECES = [*"abcdefghijklmnopqrstuvwxyz0123456789.,'-", "the", "of", "to", "in", "said", "news", "cat", "city"]
_SIZE = {"num_hidden_layers": 2, "hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64}
_GPT2 = {"n_embd": 32, "n_layer": 2, "n_head": 2}
_OF_EACH = {"layers": 2, "attention_heads": 2, "ffn_dim": 64}
_ENCODER_DECODER = {f"{part}_{name}": size for part in ("encoder", "decoder") for name, size in _OF_EACH.items()}
_ENCODER_DECODER["d_model"] = 32


def make_bert(folder: Path) -> Path:
    tokenizer = hf.BertTokenizer(vocab=_wordpieces())
    config = hf.BertConfig(vocab_size=len(tokenizer), max_position_embeddings=128, **_SIZE)
    return _save(folder, hf.BertModel(_seeded(config)), tokenizer)


def make_nli(folder: Path, labels: Sequence[str] = ("contradiction", "neutral", "entailment")) -> Path:
    """Tells whether a premise entails a hypothesis, at random: three classes by these names."""
    tokenizer = hf.BertTokenizer(vocab=_wordpieces())
    names = dict(enumerate(labels))
    config = hf.BertConfig(vocab_size=len(tokenizer), max_position_embeddings=128, id2label=names, **_SIZE)
    config.initializer_range = 0.5
    return _save(folder, hf.BertForSequenceClassification(_seeded(config)), tokenizer)


def make_multilingual(folder: Path) -> Path:
    """Its vocabulary has every syllable of the bundled Korean articles, and letters keep case and accents."""
    syllables = sorted(set(filter(str.isalpha, BUNDLED["sample-ko"].read_text(encoding="utf-8"))))
    tokenizer = hf.BertTokenizer(vocab=_wordpieces(syllables), do_lower_case=False)
    config = hf.BertConfig(vocab_size=len(tokenizer), max_position_embeddings=128, **_SIZE)
    return _save(folder, hf.BertModel(_seeded(config)), tokenizer)


def make_electra(folder: Path) -> Path:
    tokenizer = hf.ElectraTokenizer(vocab=_wordpieces())
    config = hf.ElectraConfig(vocab_size=len(tokenizer), embedding_size=16, max_position_embeddings=128, **_SIZE)
    return _save(folder, hf.ElectraModel(_seeded(config)), tokenizer)


def make_roberta(folder: Path) -> Path:
    """Its positions start after the padding index; its tokenizer states no maximum."""
    tokenizer = _byte_level(hf.RobertaTokenizer)
    config = hf.RobertaConfig(vocab_size=len(tokenizer), max_position_embeddings=258, pad_token_id=1, **_SIZE)
    return _save(folder, hf.RobertaModel(_seeded(config)), tokenizer)


def make_gpt2(folder: Path) -> Path:
    """Positions are absolute, attention is causal, there is no padding token, and padding is on the left."""
    tokenizer = _byte_level(hf.GPT2Tokenizer, padding_side="left")
    config = hf.GPT2Config(vocab_size=len(tokenizer), n_positions=256, **_GPT2)
    return _save(folder, hf.GPT2Model(_seeded(config)), tokenizer)


def make_gpt2_lm(folder: Path) -> Path:
    """With its language-model head; the end of a text is its only special token."""
    tokenizer = _byte_level(hf.GPT2Tokenizer)
    ends = {"bos_token_id": tokenizer.eos_token_id, "eos_token_id": tokenizer.eos_token_id}
    config = hf.GPT2Config(vocab_size=len(tokenizer), n_positions=192, initializer_range=0.5, **_GPT2, **ends)
    return _save(folder, hf.GPT2LMHeadModel(_seeded(config)), tokenizer)


CHAT_TEMPLATE = (
    "<|endoftext|>{% for message in messages %}<{{ message['role'] }}>{{ message['content'] }}<s>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def make_llama(folder: Path, chat_template: str | None = CHAT_TEMPLATE) -> Path:
    """Follows instructions as they do: a chat template, rotary positions, and settings that draw at random."""
    tokenizer = _byte_level(hf.GPT2Tokenizer)
    tokenizer.chat_template = chat_template
    config = hf.LlamaConfig(
        vocab_size=len(tokenizer),
        max_position_embeddings=512,
        num_key_value_heads=1,
        initializer_range=0.5,
        bos_token_id=tokenizer.eos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        **_SIZE,
    )
    model = hf.LlamaForCausalLM(_seeded(config))
    model.generation_config.update(do_sample=True, temperature=0.7, top_p=0.8, repetition_penalty=1.05)
    return _save(folder, model, tokenizer)


def make_bart(folder: Path) -> Path:
    """States its own generation settings, as facebook/bart-large-cnn does."""
    tokenizer = _byte_level(hf.BartTokenizer)
    config = hf.BartConfig(
        vocab_size=len(tokenizer),
        max_position_embeddings=128,
        bos_token_id=0,
        pad_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=2,
        forced_eos_token_id=2,
        init_std=0.5,
        **_ENCODER_DECODER,
    )
    model = hf.BartForConditionalGeneration(_seeded(config))
    model.generation_config.update(
        num_beams=3, min_length=8, max_length=24, length_penalty=2.0, no_repeat_ngram_size=3, early_stopping=True
    )
    return _save(folder, model, tokenizer)


def make_pegasus(folder: Path) -> Path:
    """Positions are sinusoids, `<n>` is a piece like any other, and the checkpoint states no generation settings."""
    pieces = [*_sentencepieces(["<pad>", "</s>", "<unk>"]), ("<n>", -4.0)]
    tokenizer = hf.PegasusTokenizer(vocab=pieces, mask_token="<pad>", mask_token_sent=None, offset=2)
    config = hf.PegasusConfig(
        vocab_size=len(tokenizer),
        max_position_embeddings=96,
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
        forced_eos_token_id=1,
        init_std=0.5,
        **_ENCODER_DECODER,
    )
    return _save(folder, hf.PegasusForConditionalGeneration(_seeded(config)), tokenizer)


def make_t5(folder: Path) -> Path:
    """Positions are relative: only the tokenizer states a window."""
    pieces = [*_sentencepieces(["<pad>", "</s>", "<unk>"]), ("▁summarize", -4.0), (":", -4.0)]
    tokenizer = hf.T5Tokenizer(vocab=pieces, extra_ids=0, model_max_length=128)
    config = hf.T5Config(
        vocab_size=len(tokenizer),
        d_model=32,
        d_kv=16,
        d_ff=64,
        num_layers=2,
        num_heads=2,
        decoder_start_token_id=0,
        initializer_factor=3.0,
    )
    return _save(folder, hf.T5ForConditionalGeneration(_seeded(config)), tokenizer)


def _byte_level(tokenizer: type[hf.PreTrainedTokenizerBase], **options: str) -> hf.PreTrainedTokenizerBase:
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "<|endoftext|>"]
    pieces = [*special, *sorted(ByteLevel.alphabet())]
    return tokenizer(vocab={piece: i for i, piece in enumerate(pieces)}, merges=[], **options)


def make_xlnet(folder: Path) -> Path:
    special = ["<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>", "<eod>", "<eop>"]
    tokenizer = hf.XLNetTokenizer(vocab=_sentencepieces(special))
    config = hf.XLNetConfig(vocab_size=len(tokenizer), d_model=32, n_layer=2, n_head=2, d_inner=64)
    return _save(folder, hf.XLNetModel(_seeded(config)), tokenizer)


def _sentencepieces(special: list[str]) -> list[tuple[str, float]]:
    pieces = [(piece, 0.0) for piece in special] + [("▁", -3.0)]
    return pieces + [(piece, -4.0) for piece in _PIECES] + [(f"▁{piece}", -5.0) for piece in _PIECES]


def _wordpieces(more: Sequence[str] = ()) -> dict[str, int]:
    pieces = dict.fromkeys([*_PIECES, *more])
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *pieces, *(f"##{piece}" for piece in pieces)]
    return {word: i for i, word in enumerate(words)}


def _seeded(config: object) -> object:
    torch.manual_seed(0)
    return config


def _save(folder: Path, model: hf.PreTrainedModel, tokenizer: object) -> Path:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


MAKERS = {
    make.__name__.removeprefix("make_").replace("_", "-"): make
    for make in (
        *(make_bart, make_bert, make_electra, make_gpt2, make_gpt2_lm, make_llama),
        *(make_multilingual, make_nli, make_pegasus, make_roberta, make_t5, make_xlnet),
    )
}
"""By architecture."""
