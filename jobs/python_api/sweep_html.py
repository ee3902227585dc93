"""A sweep's answer as a piece of HTML, for notebooks."""

from html import escape

from jobs.report.sweep import answer
from jobs.report.sweep.numbers import Numbers
from jobs.terminal.metrics import metric_name, metric_places, metric_signature
from jobs.terminal.numerals import decimals
from jobs.terminal.table_style import role


def sweep_html(about: str, numbers: Numbers) -> str:
    """What was swept, which n remain candidates and how sure that is, and mean scores by n. Every text is escaped."""
    parts = [f"<p>{escape(about)}</p>"]
    for dataset in dict.fromkeys(curve.dataset for curve in numbers.curves):
        items = "".join(
            f"<li><b>{escape(system)}</b>: {escape(sentence)}</li>"
            for system, sentence in answer.sentences(numbers, dataset)
        )
        known = " ".join(answer.what_is_known(numbers, dataset))
        parts += [f"<p><b>{escape(answer.headline(numbers, dataset))}</b></p>", f"<ul>{items}</ul>"]
        parts += [f"<p>{escape(known)}</p>", _table(numbers, dataset)]
    parts.append(
        f"<p><small>{escape(metric_signature(numbers.run, numbers.metric))}, seed {numbers.run.seed}</small></p>"
    )
    return "".join(parts)


def _table(numbers: Numbers, dataset: str) -> str:
    curves, places = numbers.curves_of(dataset), metric_places(numbers.metric)
    lengths = sorted({at.n for curve in curves for at in curve.lengths})
    head = "".join(f"<th>{n}</th>" for n in lengths)
    rows = []
    for curve in curves:
        means = {at.n: decimals(at.mean, places) for at in curve.lengths}
        cells = "".join(f"<td>{means.get(n, '–')}</td>" for n in lengths)
        rows.append(f"<tr><th>{escape(curve.system + role(curve.kind))}</th>{cells}</tr>")
    caption = f"<caption>mean {metric_name(numbers.metric)} by n</caption>"
    return f"<table>{caption}<thead><tr><th>n</th>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
