"""Numbers as text, the same in tables, sentences and plots."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # `nws ls` must not wait for pydantic
    from nws.core.findings.scores import Interval
    from nws.core.text.length import LengthUnit


def decimals(value: float, places: int = 3) -> str:
    """Write a number without its leading zero: ".432"; no "-.000"."""
    text = f"{value:.{places}f}"
    if float(text) == 0:
        text = text.removeprefix("-")
    return text.replace("0.", ".", 1) if abs(float(text)) < 1 else text


def signed(value: float, places: int = 3) -> str:
    """Write a number with its sign: "+.012", "-.012"; ".000" has none."""
    text = decimals(value, places)
    return text if text.startswith("-") or float(text) == 0 else f"+{text}"


def p_text(p: float, places: int = 4) -> str:
    """Write a p, which is never 0: ".0312", "<.0001"."""
    return decimals(p, places) if p >= 0.5 / 10**places else f"<{decimals(1 / 10**places, places)}"


def percent(share: float, places: int = 0) -> str:
    """Write a share in per cent: "41 %"; no "-0 %"."""
    return f"{round(100 * share, places) + 0.0:.{places}f} %"


LEAST_FOR_INTERVAL = 10
"""Over fewer articles no interval is printed, nor written into LaTeX; `report.json` and the CSV files have it."""


def printed(interval: "Interval", articles: int) -> "Interval":
    """Return the interval as it is printed: without its ends where there are too few articles."""
    return interval if articles >= LEAST_FOR_INTERVAL else replace(interval, low=None, high=None)


def percent_interval(interval: "Interval") -> str:
    """Write the ends of an interval, with a decimal if they would be equal: "38–43 %"; "" without an interval."""
    if interval.low is None or interval.high is None:
        return ""
    for places in (0, 1):
        low, high = (percent(end, places).removesuffix(" %") for end in (interval.low, interval.high))
        if low != high:
            break
    return f"{low} to {high} %" if low.startswith("-") else f"{low}–{high} %"


def interval_text(interval: "Interval", places: int = 3) -> str:
    """Write the ends of an interval: ".012 to .345"; "no interval" where there is none."""
    if interval.low is None or interval.high is None:
        return "no interval"
    return f"{decimals(interval.low, places)} to {decimals(interval.high, places)}"


def counted(count: int, noun: str) -> str:
    """Write a number with its noun: "1 article", "2 articles", "2 summaries"."""
    plural = f"{noun.removesuffix('y')}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count} {noun if count == 1 else plural}"


def length_text(n: int, unit: "LengthUnit") -> str:
    """Write an n with what it counts: "9 words", "50 characters"."""
    return counted(n, unit.removesuffix("s"))


def in_brackets(*texts: str) -> str:
    """Put texts in brackets behind a space: " (47.8 written, 61 %)"; "" if all are empty."""
    return f" ({', '.join(filter(None, texts))})" if any(texts) else ""


def listed(names: Sequence[str], word: str = "and") -> str:
    """Join one name or more into a list, with a word before the last."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


def choose_lengths(lengths: Sequence[int], cell: int, room: int) -> list[int]:
    """Choose as many n as fit side by side into `room` columns of a terminal, evenly spread and with both ends."""
    wide = max(cell, len(str(lengths[-1]))) + 2
    most = max(2, room // wide)
    if len(lengths) <= most:
        return list(lengths)
    return [lengths[round(i * (len(lengths) - 1) / (most - 1))] for i in range(most)]
