"""What the prompts of an article begin with is read once, and no text shows it."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
import transformers as hf
from tiny_checkpoints import CHAT_TEMPLATE, make_llama

from nws.core.models import resolve_model
from nws.core.models.generation import LoadedGenerator, load_generator
from nws.core.models.generators import PromptTemplate, parse_generator
from nws.core.models.model_input import has_copies, reads_on, shared
from nws.core.text.rows import cleaned
from nws.core.types import LengthRule

LAST, FIRST, ALONE = "{article}\nIn {n} words.", "In {n} words: {article}", "{n}{article}"
# The second is cut, and for each n elsewhere. Two are the same text.
TEXTS = ["the cat said news", "in the city of the cat " * 30, "zz", "zz"]
LENGTHS = [1, 4]
READ_ONCE = ["llama", "gpt2-lm", "thinks"]


@pytest.fixture(scope="module")
def folders(tiny_models: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Checkpoints that can read on from what they have read, and one with a sliding window, which cannot."""
    made = tmp_path_factory.mktemp("readers")
    found = {name: tiny_models[name] for name in READ_ONCE[:2]}
    found["thinks"] = make_llama(made / "thinks", chat_template=CHAT_TEMPLATE + "{{ '<think>\\n' }}")
    tokenizer = hf.AutoTokenizer.from_pretrained(found["llama"])
    size = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    ends = {"bos_token_id": tokenizer.eos_token_id, "eos_token_id": tokenizer.eos_token_id}
    window = {"sliding_window": 48, "max_position_embeddings": 512, "num_key_value_heads": 1}
    torch.manual_seed(0)
    config = hf.MistralConfig(vocab_size=len(tokenizer), initializer_range=0.5, **size, **ends, **window)
    found["sliding"] = made / "sliding"
    hf.MistralForCausalLM(config).save_pretrained(found["sliding"])
    tokenizer.save_pretrained(found["sliding"])
    return found


def load(folder: Path, prompt: str, length: LengthRule = "free") -> LoadedGenerator:
    generator = parse_generator(str(folder), PromptTemplate(prompt), length)
    resolved = replace(generator, model=resolve_model(generator.model), clean_outputs=())
    return load_generator(resolved, torch.device("cpu"), 0)


def written(loaded: LoadedGenerator, texts: list[str], lengths: list[int] = LENGTHS) -> list[str]:
    asked = [(i, n) for i in range(len(texts)) for n in lengths]
    return [out.text for out in loaded([texts[i] for i, _ in asked], [i for i, _ in asked], [n for _, n in asked])]


@pytest.mark.parametrize(
    ("name", "prompt"),
    [("llama", LAST), ("llama", FIRST), ("gpt2-lm", LAST), ("gpt2-lm", ALONE), ("thinks", LAST), ("sliding", LAST)],
)
def test_texts_are_those_of_each_prompt_alone(folders: dict[str, Path], name: str, prompt: str) -> None:
    loaded = load(folders[name], prompt)
    assert loaded._reads_on == (name in READ_ONCE)
    model = hf.AutoModelForCausalLM.from_pretrained(folders[name])
    expected = []
    for text in TEXTS:
        for n in LENGTHS:
            ids = torch.tensor([loaded.prompt(text, n).ids])
            output = model.generate(ids, do_sample=False, max_new_tokens=loaded.config(n).max_new_tokens)
            decoded = loaded._tokenizer.decode(output[0, ids.shape[1] :], skip_special_tokens=True)
            expected.append(" ".join(cleaned(decoded).split()))
    assert loaded.prompt(TEXTS[1], 4).truncated > loaded.prompt(TEXTS[1], 1).truncated > 0
    assert written(loaded, TEXTS) == expected
    assert [written(loaded, [text], [n])[0] for text in TEXTS for n in LENGTHS] == expected
    assert len(set(expected)) == 6


@pytest.mark.parametrize("name", ["llama", "sliding"])
@pytest.mark.parametrize("length", ["exactly", "at_most"])
def test_drafts_and_exact_lengths_are_those_of_each_prompt_alone(
    folders: dict[str, Path], name: str, length: LengthRule, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = load(folders[name], LAST, length)
    together = written(loaded, TEXTS)
    monkeypatch.setattr(loaded, "_reads_on", False)
    monkeypatch.setattr(loaded, "_copies", False)
    loaded._reader.cache_clear()
    for i, text in enumerate(TEXTS):
        alone = [loaded([text], [i], [n])[0].text for n in LENGTHS]
        assert together[i * len(LENGTHS) : (i + 1) * len(LENGTHS)] == alone


@pytest.mark.parametrize(
    ("name", "prompt", "times"), [("llama", LAST, 1), ("llama", FIRST, len(LENGTHS)), ("sliding", LAST, len(LENGTHS))]
)
@pytest.mark.parametrize("length", ["free", "at_most"])
def test_how_often_an_article_is_read(
    folders: dict[str, Path], name: str, prompt: str, times: int, length: LengthRule, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = load(folders[name], prompt, length)
    read, forward = [], loaded._model.forward

    def counted(*args: object, input_ids: torch.Tensor, **more: object) -> object:
        if input_ids.shape[1] > 1:  # no token that was written
            read.append(input_ids)
        return forward(*args, input_ids=input_ids, **more)

    monkeypatch.setattr(loaded._model, "forward", counted)
    written(loaded, ["zz the cat zz", "news"])
    (sign,) = loaded._tokenizer("z", add_special_tokens=False)["input_ids"]
    assert sum(int((ids == sign).sum()) for ids in read) == 4 * times


def test_a_pass_has_no_more_tokens_than_its_budget(folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that wait to be read on from, too."""
    loaded = load(folders["llama"], LAST)
    loaded._budget.tokens = 1_000
    waiting, passes, generate = [0], [], loaded._model.generate

    def counted(**given: object) -> object:
        tokens, config = given["input_ids"], given["generation_config"]
        if config.return_dict_in_generate:
            waiting[0] = tokens.numel()
        else:
            passes.append((len(tokens), waiting[0] + tokens.numel() + len(tokens) * config.max_new_tokens))
        return generate(**given)

    monkeypatch.setattr(loaded._model, "generate", counted)
    written(loaded, [f"the cat said news {i}" for i in range(7)])
    assert max(articles for articles, _ in passes) > 1
    assert max(tokens for articles, tokens in passes if articles > 1) <= 1_000


def test_of_which_models_the_readings_are_copied() -> None:
    size = {"vocab_size": 9, "hidden_size": 8, "num_hidden_layers": 1}
    heads = {"num_attention_heads": 1, "num_key_value_heads": 1, "intermediate_size": 8}
    kinds = {
        hf.LlamaForCausalLM(hf.LlamaConfig(**size, **heads)): (True, True),
        hf.MistralForCausalLM(hf.MistralConfig(sliding_window=4, **size, **heads)): (True, False),
        hf.BloomForCausalLM(hf.BloomConfig(n_head=1, **size)): (True, False),  # counts positions by itself
        hf.MambaForCausalLM(hf.MambaConfig(**size)): (False, False),  # has a state
    }
    assert {model: (has_copies(model), reads_on(model)) for model in kinds} == kinds


def test_what_rows_begin_with() -> None:
    assert shared([[1, 2, 3], [1, 2, 4], [1, 2]]) == [1, 2]
    assert shared([[1, 2]]) == [1, 2]
    assert shared([[1], [2, 1]]) == shared([[], [1]]) == []
