"""Which content kept people agree with: by layers of MiniLM, how they are joined, and how tokens are weighed.

    python -m bench.kept_weights ../shared/data/dialsummeval.jsonl:relevance realsumm.jsonl:litepyramid_recall

A file has a summary a line, as docs/correlate.md has them, and what people say of it by the name behind the colon. Of
settings, the floor is of all other documents. `kept` is what `nws score` makes of the file. If the rows have the field
`source`, an article or the turns of a dialogue on a line each, content is also kept of that, without a reference.
"""

import itertools
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from spacy.lang.en.stop_words import STOP_WORDS

from nws.core.arithmetic import find_device, one_thread
from nws.core.metrics.bertscore import BertScorer
from nws.core.metrics.config import MINILM, BertScoreConfig
from nws.core.metrics.metric import FloatArray, Row
from nws.core.metrics.registry import make_metric
from nws.core.metrics.token_matching import TokenVectors
from nws.core.models import model_folder, parse_model, resolve_model
from nws.core.models.loading import load_tokenizer
from nws.core.systems.importance import lexrank, ranking
from nws.core.text.length import bare_words, idf_of
from nws.core.text.segmentation import sentences_of

EQUAL, CHOSEN = "layer 6, equal", "layers 0 and 6, one matching, idf"
JOINED: Mapping[str, Sequence[tuple[int, ...]]] = {
    **{f"layer {layer}": [(layer,)] for layer in (0, 6)},
    **{f"layers {layer} and 6, mean of recalls": [(layer,), (6,)] for layer in (0, 4)},
    **{f"layers {layer} and 6, one matching": [(layer, 6)] for layer in (0, 4)},
}
BESIDE = {"kept": 0, "kept_words": 0, "bertscore recall": 1, "bertscore F1": 2, "rouge1 recall": 1, "rouge1 F1": 2}
SHORT, DRAWS, SPLITS, PANELS = 25, 2_000, 400, (3, 6, 12, 24, 48)  # short: of fewer words, on average
Indices = NDArray[np.int64]
Measures = Mapping[str, FloatArray]  # what people say and what each measure says, (documents, systems)


def main() -> None:
    data: dict[str, Measures] = {}
    for path, human in (file.rsplit(":", 1) for file in sys.argv[1:]):
        with one_thread():
            data[Path(path).stem] = measures = judged(Path(path), human)
        short = np.flatnonzero(measures["words"].mean(axis=0) < SHORT)
        if len(short) > 2:
            data[f"its {len(short)} short systems"] = {name: of.take(short, 1) for name, of in measures.items()}
    for name, measures in data.items():
        show(name, measures)
    validate(list(data.values()))


def judged(path: Path, human: str) -> Measures:
    """The summaries of a file. What idf of few references does, in runs of so many documents, is printed."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows.sort(key=lambda row: (row["document"], row["system"]))
    references = list({row["document"]: row["reference"] for row in rows}.values())
    measured = [Row(row["prediction"], (row["reference"],), row["document"]) for row in rows]
    said = np.array([row[human] for row in rows], dtype=np.float64).reshape(len(references), -1)
    kept = Kept([row.prediction for row in measured], references)
    settings = itertools.product(JOINED, ("equal", "idf", "content"))
    measures = {f"{layers}, {how}": kept(layers, how, np.arange(len(said))) for layers, how in settings}
    for name, part in BESIDE.items():
        measures[name] = make_metric(name.split()[0]).statistics(measured)[:, part].reshape(said.shape)
    if all("source" in row for row in rows):
        measures |= kept_of_articles(rows)
    measures["people"] = said
    measures["words"] = np.array([float(len(row.prediction.split())) for row in measured]).reshape(said.shape)
    print(f"\n{path.stem}: r within so many documents less that of equal weights, mean (least) of 50 draws\n")
    for size in PANELS:
        panels = [np.random.default_rng(i).permutation(len(said))[:size] for i in range(50)]
        agreed = [[np.nanmean(within(kept(CHOSEN[:-5], how, p), said[p])) for how in ("equal", "idf")] for p in panels]
        print(f"{size} documents: {np.diff(agreed).mean():+.3f} ({np.diff(agreed).min():+.3f})", flush=True)
    return measures


class Kept:
    """Content kept of the texts of all documents in turn, as many of each, by a setting."""

    def __init__(self, texts: Sequence[str], references: Sequence[str]) -> None:
        model, both, count = resolve_model(parse_model(MINILM)), [*references, *texts], len(references)
        four, six = (BertScorer(BertScoreConfig(model, layer), find_device("cpu")).embed(both) for layer in (4, 6))
        vectors = {4: [text.vectors for text in four if text], 6: [text.vectors for text in six if text]}
        vectors[0] = [text.embeddings for text in six if text]
        self._references = [text for text in six[:count] if text]
        ours = {layer: torch.cat(found[:count]) for layer, found in vectors.items()}
        self._best: dict[tuple[int, ...], FloatArray] = {}
        for layers in itertools.chain(*JOINED.values()):
            found = zip(*(vectors[layer][count:] for layer in layers), strict=True)
            cosines = (torch.stack([a @ ours[n].T for a, n in zip(of, layers, strict=True)]).mean(0) for of in found)
            self._best[layers] = np.stack([of_text.amax(dim=0).double().numpy() for of_text in cosines])
        names = [(i, token.removeprefix("##")) for token, i in load_tokenizer(model_folder(model)).vocab.items()]
        self._content = {i for i, name in names if name.isalnum() and name not in STOP_WORDS}

    def __call__(self, layers: str, how: str, panel: Indices) -> FloatArray:
        """What the systems' summaries of a panel of documents keep, (panel, systems)."""
        idf = idf_of([set(self._references[i].ids.tolist()) for i in panel])
        ends = np.cumsum([len(text.ids) for text in self._references])
        recalls = []
        for i in panel:
            text = self._references[i]
            of_token = {"equal": lambda _: 1.0, "idf": idf.__getitem__, "content": self._content.__contains__}[how]
            weights = text.weights * np.array([float(of_token(token)) for token in text.ids.tolist()])
            best = [self._best[one][:, ends[i] - len(weights) : ends[i]] for one in JOINED[layers]]
            recalls.append((np.mean(best, axis=0) @ weights).reshape(len(ends), -1)[panel] / max(weights.sum(), 1e-12))
        return above_floor(recalls)


def above_floor(recalls: Sequence[FloatArray]) -> FloatArray:
    """Content kept of each document by its own summaries, from its recall by the summaries of all, (all, systems)."""
    own = np.stack([of_all[i] for i, of_all in enumerate(recalls)])
    floors = (np.sum(recalls, axis=0) - own) / (len(recalls) - 1)
    return np.asarray(np.maximum(-1.0, (own - floors) / (1 - floors)))


def kept_of_articles(rows: Sequence[Mapping[str, str]]) -> Measures:
    """Content kept of articles in place of references: tokens by idf among articles, by how sentences are weighed."""
    articles = list({row["document"]: row["source"] for row in rows}.values())
    scorer = BertScorer(BertScoreConfig(resolve_model(parse_model(MINILM)), 6), find_device("cpu"))
    summaries = [_both(text) for text in scorer.embed([row["prediction"].strip() for row in rows]) if text]
    cut = [text.split("\n") if "\n" in text else sentences_of(text, "blank") for text in articles]
    parts = [[part for part in scorer.embed([sentence.strip() for sentence in of]) if part] for of in cut]
    idf = idf_of([{token for part in of for token in part.ids.tolist()} for of in parts])
    recalls: dict[str, list[FloatArray]] = {}
    for sentences, of in zip(cut, parts, strict=True):
        places, tokens = np.arange(len(of)), torch.cat([_both(part) for part in of]).T
        best = np.stack([(summary @ tokens).amax(dim=0).double().numpy() for summary in summaries])
        central = lexrank([bare_words(sentence) for sentence in sentences])
        ways = {f"its first {k} sentences": places < k for k in (3, 8)}
        ways["its 5 most central"] = np.isin(places, ranking(central)[:5])
        ways["all sentences"] = places >= 0
        for way, weights in {**ways, "all, by centrality": central}.items():
            by_token = [np.array([idf[i] for i in part.ids.tolist()]) * part.weights for part in of]
            weighed = np.concatenate([one * weight for one, weight in zip(by_token, weights, strict=True)])
            recalls.setdefault(way, []).append((best @ weighed / weighed.sum()).reshape(len(articles), -1))
    return {f"article: {way}": above_floor(of_all) for way, of_all in recalls.items()}


def _both(text: TokenVectors) -> torch.Tensor:
    """Vectors of layers 0 and 6, whose products are mean cosines."""
    return torch.cat([text.embeddings, text.vectors], dim=1) / 2**0.5


def within(scores: FloatArray, human: FloatArray) -> FloatArray:
    """Pearson's r over the last axis; nan where one of both is constant."""
    a, b = (values - values.mean(axis=-1, keepdims=True) for values in (scores, human))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((a * b).sum(axis=-1) / np.sqrt((a**2).sum(axis=-1) * (b**2).sum(axis=-1)))


def agreement(measures: Measures, setting: str, drawn: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Pearson's r over systems, and within documents; for each row of weights of documents, if there are any."""
    scores, people = measures[setting], measures["people"]
    drawn = np.full((1, len(people)), 1 / len(people)) if drawn is None else drawn
    return within(drawn @ scores, drawn @ people), drawn @ np.nan_to_num(within(scores, people))


def show(name: str, measures: Measures) -> None:
    """A line for each setting; intervals are of differences, documents resampled."""
    count, of_systems = measures["people"].shape
    drawn = np.random.default_rng(0).multinomial(count, np.full(count, 1 / count), DRAWS) / count
    print(f"\n{name}: {count} documents, {of_systems} systems, {measures['words'].mean():.0f} words\n")
    print("| setting | over systems | less equal | within | less equal | less chosen | pairs of equal length |")
    print("|" + " --- |" * 7)
    (systems_equal, equal), (_, chosen) = (agreement(measures, one, drawn) for one in (EQUAL, CHOSEN))
    for setting in (name for name in measures if name != "people"):
        (of_all, of_each), (systems, each) = (agreement(measures, setting, weights) for weights in (None, drawn))
        cells = [f"{of_all[0]:.3f}", _interval(systems - systems_equal), f"{of_each[0]:.3f}"]
        cells += [_interval(each - equal), _interval(each - chosen), f"{equal_length(measures, setting):.1%}"]
        print(f"| {setting} | {' | '.join(cells)} |", flush=True)


def _interval(values: FloatArray) -> str:
    return f"{values.mean():+.3f} [{np.quantile(values, 0.025):+.3f}, {np.quantile(values, 0.975):+.3f}]"


def equal_length(measures: Measures, setting: str) -> float:
    """In how many pairs of one document, of equal length to 2 words, that people tell apart, it picks theirs."""
    a, b = np.triu_indices(measures["people"].shape[1], 1)
    people, words, picked = (measures[name][:, a] - measures[name][:, b] for name in ("people", "words", setting))
    return float((np.sign(people * picked)[(people != 0) & (abs(words) <= 2)] + 1).mean() / 2)


def validate(data: Sequence[Measures]) -> None:
    """Which setting wins in one half, by the mean of both correlations over the data, and its gain in the other."""
    rng, settings = np.random.default_rng(0), [name for name in data[0] if name.startswith("layer")]
    for axis, what in enumerate(("documents", "systems")):
        agreed = np.empty((SPLITS, 2, len(settings)))
        for split in agreed:
            parts = [np.array_split(rng.permutation(one["people"].shape[axis]), 2) for one in data]
            for of_settings, *half in zip(split, *parts, strict=True):
                taken = [{k: of.take(i, axis) for k, of in one.items()} for one, i in zip(data, half, strict=True)]
                of_settings[:] = [np.mean([agreement(one, name) for one in taken]) for name in settings]
        gains, chosen = agreed[:, 1] - agreed[:, 1, [settings.index(EQUAL)]], agreed[:, 0].argmax(axis=1)
        print(f"\nChosen on half of the {what}, and agreement in the other half less that of equal weights\n")
        print("| setting | chosen | gain | behind in |\n| --- | --- | --- | --- |")
        for i, gain in enumerate(gains.T):
            print(f"| {settings[i]} | {(chosen == i).mean():.1%} | {gain.mean():+.3f} | {(gain < 0).mean():.1%} |")


if __name__ == "__main__":
    main()
