"""A table in LaTeX, with the rules of the package booktabs."""

import re
from collections.abc import Sequence

from jobs.report.table_cells import is_number, text

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    # Without T1 fonts these three are other characters.
    **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"},
    # Behind \\ they would be its argument and its star.
    **{"[": "{[}", "]": "{]}", "*": "{*}"},
    **{"`": r"\textasciigrave{}", "'": r"\textquotesingle{}"},
}
_ESCAPED = str.maketrans(_SPECIAL)
_LIGATURE = re.compile(r"-(?=-)")


def latex_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """The rows under their column names, numbers to the right; a missing value is an empty cell."""
    sides = "".join("r" if is_number(rows, i) else "l" for i in range(len(columns)))
    return tabular(sides, [cell(name) for name in columns], [[cell(value) for value in row] for row in rows])


def tabular(sides: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A `tabular` of cells that are LaTeX already; `sides` has a letter for each column, as LaTeX takes them."""
    lines = [
        rf"\begin{{tabular}}{{{sides}}}",
        r"\toprule",
        rf"{' & '.join(columns)} \\",
        r"\midrule",
        *(rf"{' & '.join(row)} \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def cell(value: object) -> str:
    """A value as it stands in a cell: special characters are escaped, and a minus sign is typeset as one."""
    shown = text(value)
    if not isinstance(value, str) and shown.startswith("-"):
        return f"$-${shown[1:]}"
    return _LIGATURE.sub("-{}", shown.translate(_ESCAPED))
