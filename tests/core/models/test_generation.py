import json
import logging
import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_checkpoints import CHAT_TEMPLATE, make_llama
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer, T5EncoderModel

from nws.core.errors import ModelError
from nws.core.models import ModelRef, resolve_model
from nws.core.models.generation import LoadedGenerator, TopKSampling, choose_dtype, clean, load_generator
from nws.core.models.generators import DEFAULT_PROMPT, Generator, PromptTemplate, for_architecture, parse_generator
from nws.core.text.length import UNCUT
from nws.core.text.rows import cleaned
from nws.core.types import LengthRule

CPU = torch.device("cpu")
ARCHITECTURES = ["bart", "gpt2-lm", "pegasus", "t5"]
SLOW = pytest.mark.slow
TEXTS = [
    "the cat said news",
    "a",
    "in the city of the cat there is one long sentence, which is the longest of all the sentences. " * 4,
    "",
    "  the cat\nof 5 news \n",
    "news of the city",
]
KEYS = [3, 1, 4, 1, 5, 2**64 - 1]


def resolved(folder: Path) -> Generator:
    generator = parse_generator(str(folder))
    return replace(generator, model=resolve_model(generator.model))


@cache
def load(folder: Path, seed: int = 0) -> LoadedGenerator:
    return load_generator(resolved(folder), CPU, seed)


def prompt_text(loaded: LoadedGenerator, text: str) -> str:
    return str(loaded._tokenizer.decode(loaded.prompt(text).ids))


@pytest.mark.parametrize(
    "architecture", [*ARCHITECTURES[:2], *(pytest.param(name, marks=SLOW) for name in ARCHITECTURES[2:])]
)
def test_a_summary_does_not_depend_on_its_batch(tiny_models: dict[str, Path], architecture: str) -> None:
    loaded = load(tiny_models[architecture])
    together = loaded(TEXTS, KEYS)
    assert together == [loaded([text], [key])[0] for text, key in zip(TEXTS, KEYS, strict=True)]
    assert together[::-1] == loaded(TEXTS[::-1], KEYS[::-1])
    assert len({output.text for output in together}) > 4
    assert {output.extra["dtype"] for output in together} == {"float32"}


@pytest.mark.parametrize("architecture", ["bart", "pegasus", "t5"])
def test_beam_search_equals_transformers_own(tiny_models: dict[str, Path], architecture: str) -> None:
    folder = tiny_models[architecture]
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForSeq2SeqLM.from_pretrained(folder)
    options = {
        "bart": {},  # it states its own
        "pegasus": {"num_beams": 8, "min_length": 32, "max_length": 96, "length_penalty": 0.8},
        "t5": {"num_beams": 4, "min_length": 30, "max_length": 128, "length_penalty": 2.0, "no_repeat_ngram_size": 3}
        | {"early_stopping": True},
    }[architecture]
    prefix = {"bart": " ", "pegasus": "", "t5": "summarize: "}[architecture]
    for text in (TEXTS[0], TEXTS[5]) if architecture == "bart" else (TEXTS[0],):
        output = model.generate(**tokenizer(prefix + text, return_tensors="pt"), **options)
        expected = tokenizer.decode(output[0], skip_special_tokens=True).replace("<n>", " ")
        assert load(folder)([text], [0])[0].text == " ".join(expected.split())


# Window of 128, 192, 96 and 128 tokens; GPT-2 shares its own with a summary of 96 tokens.
@pytest.mark.parametrize(
    ("architecture", "fixed", "room", "beginning", "end"),
    [
        ("bart", 3, 125, "<s> a.a.a", ".a</s>"),  # the prefix is a token
        ("gpt2-lm", 7, 89, "a.a.a", ".a\nTL;DR:"),
        ("pegasus", 1, 95, "a.a.a", ".a</s>"),
        ("t5", 3, 125, "summarize: a.a.a", ".a</s>"),
    ],
)
def test_truncation_is_counted_and_spares_the_prompt(
    tiny_models: dict[str, Path], architecture: str, fixed: int, room: int, beginning: str, end: str
) -> None:
    loaded = load(tiny_models[architecture])
    # In these vocabularies every character of "a.a." is a token.
    for characters in (2, room, room + 1, room + 2, 100_000):
        prompt = loaded.prompt(("a." * characters)[:characters])
        assert len(prompt.ids) + prompt.truncated == fixed + characters
        assert prompt.truncated == max(0, characters - room)
    text = prompt_text(loaded, "a." * 50_000)
    assert text.startswith(beginning)
    assert text.endswith(end)
    output = loaded(["a." * 50_000], [0])[0]
    counts = {"input_tokens": fixed + 100_000, "truncated_tokens": 100_000 - room}
    assert output.extra == {**counts, "dtype": "float32"}


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@given(text=st.text("the cat,\n 5é", max_size=40))
def test_the_parts_of_a_prompt_are_the_tokens_of_the_whole(
    tiny_models: dict[str, Path], architecture: str, text: str
) -> None:
    loaded = load(tiny_models[architecture])
    whole = loaded.generator.prefix + text.strip() + loaded.generator.suffix
    assert loaded.prompt(text).ids == loaded._tokenizer(whole)["input_ids"]


def test_what_the_checkpoint_states_comes_first(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    pegasus = load(tiny_models["pegasus"]).config(UNCUT)
    # The tiny PEGASUS states none. Its settings are those for PEGASUS, inside its window.
    assert (pegasus.num_beams, pegasus.min_length, pegasus.max_length, pegasus.length_penalty) == (8, 32, 96, 0.8)
    folder = tmp_path / "bart"
    shutil.copytree(tiny_models["bart"], folder)
    stated = json.loads((folder / "generation_config.json").read_text())
    stated |= {"max_length": None, "max_new_tokens": 5, "min_new_tokens": 9, "do_sample": True, "top_k": 7}
    (folder / "generation_config.json").write_text(json.dumps(stated))
    config = load(folder).config(UNCUT)
    assert (config.max_length, config.max_new_tokens, config.min_length, config.min_new_tokens) == (6, None, 6, None)
    assert (config.num_beams, config.do_sample, config.top_k) == (3, False, None)
    load(folder)(TEXTS, KEYS)


def test_padding_as_for_a_gpu_changes_no_text(tiny_models: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = load_generator(resolved(tiny_models["bart"]), CPU, 0)
    expected, widths, generate = loaded(TEXTS, KEYS), [], loaded._model.generate
    monkeypatch.setattr(
        loaded._model, "generate", lambda **given: widths.append(given["input_ids"].shape[1]) or generate(**given)
    )
    assert LoadedGenerator(loaded.generator, loaded._tokenizer, loaded._model, torch.device("cuda"), 0)._multiple == 64
    loaded._multiple = 16
    assert loaded(TEXTS, KEYS) == expected
    assert all(width % 16 == 0 or width == loaded._window for width in widths)


def test_a_prompt_as_long_as_the_window(tiny_models: dict[str, Path]) -> None:
    with pytest.raises(ModelError, match="192 tokens, has no room"):
        load_generator(replace(resolved(tiny_models["gpt2-lm"]), suffix="a" * 96), CPU, 0)


def test_the_seed_and_the_key_of_an_article_decide_what_is_drawn(tiny_models: dict[str, Path]) -> None:
    folder = tiny_models["gpt2-lm"]
    text = "the cat said news"
    first, other_key = load(folder)([text, text], [1, 2])
    assert load(folder)([text], [1]) == [first] != [other_key]
    again = load_generator(resolved(folder), CPU, 0)([text], [1])
    other_seed = load_generator(resolved(folder), CPU, 1)([text], [1])
    assert again == [first] != other_seed
    # Beam search draws nothing.
    assert load(tiny_models["bart"], 0)([text], [1]) == load(tiny_models["bart"], 1)([text], [2])


def test_the_type_a_model_runs_in() -> None:
    assert choose_dtype("float16", "cpu", False) is choose_dtype("bfloat16", "cpu", True) is torch.float32
    assert choose_dtype("float16", "cuda", False) is torch.float16
    assert choose_dtype("bfloat16", "cuda", True) is torch.bfloat16
    assert choose_dtype("bfloat16", "cuda", False) is torch.float32, "a T4"


def test_nothing_is_written_to_the_terminal(
    tiny_models: dict[str, Path], capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    # What transformers logs does not reach the root logger, and its own handler writes to the stderr of its import.
    logger = logging.getLogger("transformers")
    logger.addHandler(caplog.handler)
    try:
        for architecture in ARCHITECTURES[:2]:
            loaded = load_generator(resolved(tiny_models[architecture]), CPU, 0)
            loaded([TEXTS[0], "a." * 5_000], KEYS[:2])
    finally:
        logger.removeHandler(caplog.handler)
    assert caplog.messages == []
    assert capfd.readouterr() == ("", "")


def test_checkpoints_that_cannot_write(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    encoder = tmp_path / "encoder"
    shutil.copytree(tiny_models["t5"], encoder)
    T5EncoderModel.from_pretrained(tiny_models["t5"]).save_pretrained(encoder)
    with pytest.raises(ModelError, match=r"encoder cannot be loaded: .*\w\. Give .* with its decoder"):
        load(encoder)


def test_code_that_comes_with_a_model_is_not_run(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "evil"
    shutil.copytree(tiny_models["bart"], folder)
    config = json.loads((folder / "config.json").read_text())
    config |= {"auto_map": {"AutoModelForSeq2SeqLM": "evil.Model", "AutoTokenizer": ["evil.Tokenizer", None]}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "custom_generate").mkdir()
    for path in ("evil.py", "custom_generate/generate.py"):
        (folder / path).write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    load(folder)(TEXTS[:1], KEYS[:1])
    assert not (tmp_path / "ran").exists()


def prompted(folder: Path, text: str = DEFAULT_PROMPT.text, length: LengthRule = "exactly") -> Generator:
    generator = parse_generator(str(folder), PromptTemplate(text), length)
    return replace(generator, model=resolve_model(generator.model))


# Their characters are tokens.
SHORT = "Say it in {n} words: {article}"


@pytest.mark.parametrize(
    ("name", "prompt"), [("llama", SHORT), pytest.param("llama", "Say it: {article}", marks=SLOW), ("t5", SHORT)]
)
def test_a_prompt_is_answered_as_by_transformers_own_greedy_search(
    tiny_models: dict[str, Path], name: str, prompt: str
) -> None:
    loaded = load_generator(prompted(tiny_models[name], prompt, "free"), CPU, 0)
    tokenizer = AutoTokenizer.from_pretrained(tiny_models[name])
    kind = AutoModelForCausalLM if name == "llama" else AutoModelForSeq2SeqLM
    model = kind.from_pretrained(tiny_models[name])
    texts, asked = [TEXTS[0], TEXTS[2][:200], TEXTS[5]], [2, 5, 2] if "{n}" in prompt else [0, 0, 0]
    written = loaded(texts, KEYS[:3], asked)
    for text, n, output in zip(texts, asked, written, strict=True):
        message = prompt.replace("{n}", str(n)).replace("{article}", text.strip())
        if name == "llama":
            chat, options = [{"role": "user", "content": message}], {"return_tensors": "pt", "return_dict": True}
            inputs = tokenizer.apply_chat_template(chat, add_generation_prompt=True, **options)
        else:
            inputs = tokenizer(message, return_tensors="pt")
        expected = model.generate(**inputs, do_sample=False, num_beams=1, max_new_tokens={0: 256, 2: 48, 5: 72}[n])
        start = inputs["input_ids"].shape[1] if name == "llama" else 0
        decoded = tokenizer.decode(expected[0, start:], skip_special_tokens=True)
        assert output.text == " ".join(cleaned(decoded).split())  # random models write NULs, too
        assert output.extra["input_tokens"] == inputs["input_ids"].shape[1]
    assert written == [loaded([t], [k], [n])[0] for t, k, n in zip(texts, KEYS, asked, strict=False)]
    assert len({output.text for output in written}) == 3


def test_a_prompt_that_is_too_long_loses_the_end_of_its_article(tiny_models: dict[str, Path]) -> None:
    loaded = load_generator(prompted(tiny_models["llama"], SHORT), CPU, 0)
    whole = len(loaded.prompt("", 2).ids)
    room = 512 - 48 - whole
    assert loaded.prompt("a b " * (room // 4), 2).truncated == 0
    cut = loaded.prompt("one two " * 400, 2)
    assert len(cut.ids) + cut.truncated == whole + 400 * 8 - 1
    assert whole + room - len("two ") <= len(cut.ids) <= whole + room
    text = str(loaded._tokenizer.decode(cut.ids))
    assert text.startswith("<|endoftext|><user>Say it in 2 words: one two one")
    assert text.endswith(("one<s><assistant>", "two<s><assistant>"))
    with pytest.raises(ModelError, match=r"tiny-llama.*512 tokens, has no room for an article beside the prompt"):
        load_generator(prompted(tiny_models["llama"], "x" * 300 + SHORT), CPU, 0)


def test_a_checkpoint_without_a_chat_template_gets_the_prompt_as_it_is(tmp_path: Path) -> None:
    folder = make_llama(tmp_path / "plain", chat_template=None)
    loaded = load_generator(prompted(folder, SHORT), CPU, 0)
    assert prompt_text(loaded, "the cat") == "Say it in 0 words: the cat"
    assert "no chat template" in loaded.generator.revision


@pytest.mark.parametrize(
    ("template", "written"),
    [
        ("{{ strftime_now(format='%-m/%-d/%y, %H:%M:%S, %A') }}", "7/26/24, 00:00:00, Friday"),
        # Llama 3.2
        (
            "{% if date_string is not defined %}{% if strftime_now is defined %}"
            "{% set date_string = strftime_now('%d %b %Y') %}{% endif %}{% endif %}Today Date: {{ date_string }}\n",
            "Today Date: 26 Jul 2024",
        ),
    ],
)
def test_a_chat_template_that_asks_for_the_date_gets_the_same_one_on_any_day(
    tmp_path: Path, template: str, written: str
) -> None:
    folder = make_llama(tmp_path / "dated", chat_template=template + CHAT_TEMPLATE)
    loaded = load_generator(prompted(folder, SHORT), CPU, 0)
    assert prompt_text(loaded, "the cat").startswith(written)


def test_an_output_that_ends_within_its_thoughts_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Templates of models that always think open the tag themselves."""
    folder = make_llama(tmp_path / "thinks", chat_template=CHAT_TEMPLATE + "{{ '<think>\\n' }}")
    generator = replace(resolved(folder), length="free")
    loaded, plain = (load_generator(replace(generator, clean_outputs=c), CPU, 0) for c in (("thoughts",), ()))
    written = [f"Hm.</think> {output.text}" for output in plain(TEXTS[:2], KEYS[:2], [3, 3])]
    batches = [written[:1], ["never ended", written[0]]]  # the longer input comes last
    monkeypatch.setattr(loaded._tokenizer, "batch_decode", lambda *_, **__: batches.pop())
    with pytest.raises(ModelError, match=r"thinks ended within its thoughts, .* max_tokens in `parameters`"):
        loaded(TEXTS[:2], KEYS[:2], [3, 3])
    (output,) = loaded(TEXTS[:1], KEYS[:1], [3])
    assert (output.text, output.extra["raw_text"]) == (written[0].split(maxsplit=1)[1], f"<think>\n{written[0]}")
    assert "clean_outputs" not in loaded.generator.signature + loaded.generator.revision
    assert plain.generator.signature.endswith("|clean_outputs=none")


def test_a_chat_template_that_refuses_is_told(tmp_path: Path) -> None:
    folder = make_llama(tmp_path / "picky", chat_template="{{ raise_exception('no user, please') }}")
    with pytest.raises(ModelError, match="chat template does not take a single user message: no user, please"):
        load_generator(prompted(folder), CPU, 0)


MODEL = ModelRef("m", "/m", "")


def drawn(k: int, scores: torch.Tensor, seed: int = 0) -> torch.Tensor:
    """The tokens that rows of equal `scores`, with the keys 0, 1, 2, …, draw."""
    sampling = TopKSampling(k, seed, range(len(scores)))
    return sampling(torch.zeros(len(scores), 1, dtype=torch.int64), scores).argmax(dim=1)


@pytest.mark.parametrize("k", [1, 2, 3, 9])
def test_tokens_are_drawn_as_the_top_k_probabilities_say(k: int) -> None:
    scores = torch.tensor([0.1, 2.0, -1.0, 1.5, 0.7])
    rows = 20_000
    found = torch.bincount(drawn(k, scores.expand(rows, 5)), minlength=5) / rows
    kept = scores.topk(min(k, 5)).indices
    expected = torch.zeros(5)
    expected[kept] = scores[kept].softmax(dim=0)
    # Five standard errors of a share of 20,000 draws.
    np.testing.assert_allclose(found, expected, atol=5 * 0.5 / rows**0.5)
    assert set(np.flatnonzero(found)) <= set(kept.tolist())


def test_every_step_draws_anew_and_every_row_for_itself() -> None:
    scores, tokens = torch.zeros(3, 2), torch.zeros(3, 1, dtype=torch.int64)
    alone, rows = TopKSampling(2, 7, [11]), TopKSampling(2, 7, [5, 11, 8])
    draws = [(alone(tokens[:1], scores[:1])[0], rows(tokens, scores)) for _ in range(50)]
    for mine, together in draws:
        torch.testing.assert_close(mine, together[1], rtol=0, atol=0)
    ones = sum(together.argmax(dim=1) for _, together in draws)
    assert all(10 < count < 40 for count in ones.tolist())


def test_what_is_kept_of_an_output() -> None:
    text = "the cat said .<n>news of the city .\n  <n>"
    assert clean(text, for_architecture(MODEL, "pegasus")) == "the cat said . news of the city ."
    assert clean(text, for_architecture(MODEL, "bart")) == "the cat said .<n>news of the city . <n>"
    assert clean("One two.\nThree\n\nfour? Five! Six.", for_architecture(MODEL, "gpt2")) == "One two. Three four?"
    three = "The U.S. said no. Mr. Smith left. He ran"
    assert clean(f" \n\n{three} ", for_architecture(MODEL, "gpt2")) == three
    assert clean(" \n\n ", for_architecture(MODEL, "gpt2")) == ""
    assert clean("the\0 cat \ud800", for_architecture(MODEL, "bart")) == "the\ufffd cat \ufffd"
