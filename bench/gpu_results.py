"""What the benchmark of a GPU found, and how it is told."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.parts import ELSE, MODELS
from bench.sweep import Agreement
from nws.core.types import Precision

# The test splits and their mean lengths in words (See et al. 2017, section 4; Narayan et al. 2018, table 2).
PAPER = {"CNN/DailyMail": (11_490, 781), "XSum": (11_334, 431)}
# How busy actors together should keep a GPU.
_ENOUGH = 0.9
# Parts that this process does not do.
_ELSEWHERE = {"segmenting", "storing"}


@dataclass(frozen=True, slots=True)
class Speed:
    """What was measured at one precision.

    Attributes:
        articles_per_second, words_per_second: of the input, by wall time.
        tokens_per_second: that the models read, without padding.
        cpu_share: CPU seconds of the process over wall seconds.
        busy_share: of the time in which the GPU ran something, as nvidia-smi says; None if it is not there.
        tflops: what the models computed a second, padding included, in 10^12 FLOP.
        peak_tflops: the same of a large matrix product of that precision.
        part_ms: wall milliseconds an article by part of `bench.parts`, the device waited for at each border; so their
            sum is more than the time of an article.
    """

    precision: Precision
    articles_per_second: float
    words_per_second: float
    tokens_per_second: float
    cpu_share: float
    busy_share: float | None
    tflops: float
    peak_tflops: float
    part_ms: Mapping[str, float]

    @property
    def paper_hours(self) -> float:
        """How long one actor on one such device needs for both whole test splits: time grows with words."""
        return sum(articles * words for articles, words in PAPER.values()) / self.words_per_second / 3600

    @property
    def actors(self) -> int | None:
        """How many actors should share the device: 1, 2 or 4; None if `busy_share` is."""
        if self.busy_share is None:
            return None
        return next((actors for actors in (1, 2) if actors * self.busy_share >= _ENOUGH), 4)


@dataclass(frozen=True, slots=True)
class Report:
    """All that was measured.

    Attributes:
        about: on what, in words.
        speeds: one of each precision.
        libraries: articles a second of the libraries called once for everything, in float32.
        agreements: of the rows of each precision with those of the libraries.
    """

    about: Mapping[str, Any]
    speeds: Sequence[Speed]
    libraries: float
    agreements: Mapping[Precision, Agreement]


def as_text(report: Report) -> str:
    """The result for people."""
    lines = [f"{key}: {value}" for key, value in report.about.items()]
    lines += ["", *_table([_HEAD, *(_row(report, speed) for speed in report.speeds)])]
    lines.append(f"The same libraries called once for everything, float32: {report.libraries:.2f} articles/s.")
    lines.append("Texts and scores are compared with theirs; scores of equal texts, the largest difference.")
    lines += ["", "Milliseconds an article by part, the device waited for at each border:"]
    parts = [part for part in report.speeds[0].part_ms if part not in _ELSEWHERE]
    rows = [
        [
            speed.precision,
            *(f"{speed.part_ms[part]:.1f}" for part in parts),
            f"{sum(ms for part, ms in speed.part_ms.items() if part != MODELS):.1f}",
        ]
        for speed in report.speeds
    ]
    lines += _table([["", *("rest" if part == ELSE else part for part in parts), "all but models"], *rows])
    study = ", ".join(f"{articles:,} {name}" for name, (articles, _) in PAPER.items())
    lines += ["", f"The paper recipe on the whole test splits ({study}), one actor, extrapolated by words:"]
    lines += [f"  {speed.precision}: {speed.paper_hours:.1f} hours{_sharing(speed)}" for speed in report.speeds]
    return "".join(f"{line}\n" for line in lines)


_HEAD = (
    *("", "articles/s", "words/s", "tokens/s", "TFLOP/s", "of peak", "busy", "CPU/wall"),
    *("libraries x", "equal texts", "BERTScore", "ROUGE"),
)


def _row(report: Report, speed: Speed) -> Sequence[str]:
    agreement = report.agreements[speed.precision]
    return (
        speed.precision,
        f"{speed.articles_per_second:.2f}",
        f"{speed.words_per_second:.0f}",
        f"{speed.tokens_per_second:.0f}",
        f"{speed.tflops:.2f}",
        f"{speed.peak_tflops:.2f} ({speed.tflops / speed.peak_tflops:.0%})",
        "not known" if speed.busy_share is None else f"{speed.busy_share:.0%}",
        f"{speed.cpu_share:.2f}",
        f"{speed.articles_per_second / report.libraries:.2f}",
        f"{agreement.equal_texts}/{agreement.texts}",
        f"{max(agreement.delta):.0e}",
        "exact" if agreement.rouge_exact else "differs",
    )


def _sharing(speed: Speed) -> str:
    if speed.actors is None:
        return ""
    return f"; actors that should share the GPU: {speed.actors} (gpus_per_actor: {1 / speed.actors:g})"


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
