import dataclasses
import re

from jobs.report.sweep.latex_curves import write_latex
from jobs.report.sweep.numbers import analyse
from jobs.terminal.numerals import decimals


def rows(path):
    """By the first cell, the others of each line of the table."""
    lines = [line.removesuffix(r" \\").split(" & ") for line in path.read_text("utf-8").splitlines() if " & " in line]
    return {first: others for first, *others in lines}


def test_systems_by_n_with_the_highest_in_bold(run, make_points, tmp_path):
    numbers = analyse(run, make_points(("a_b", "lead", "oracle", "random"), (7, 9)))
    write_latex(tmp_path / "curves.tex", numbers)
    table = rows(tmp_path / "curves.tex")
    assert set(table) == {"$n$", r"a\_b", "lead (control)", "oracle (upper bound)", "random (control)"}
    assert table["$n$"] == ["7", "9"]
    at = {curve.system: curve.lengths[1] for curve in numbers.curves}
    half = decimals(at["a_b"].half_width)
    assert table[r"a\_b"][1] == rf"\textbf{{{decimals(at['a_b'].mean)}}}$_{{\pm{half}}}$"
    assert table["oracle (upper bound)"][1].startswith(decimals(at["oracle"].mean))  # above it, and no choice
    assert "textbf" not in "".join(table["lead (control)"] + table["random (control)"])


def test_comments_say_what_made_the_numbers(run, make_points, tmp_path):
    write_latex(tmp_path / "curves.tex", analyse(run, make_points(("a", "random"), (7,), dataset="new\ns_1")))
    text = (tmp_path / "curves.tex").read_text("utf-8")
    assert f"% Run {run.id}, done, seed 7, code 0.1.0+gabc1234.\n" in text
    assert "% BERTScore F1: bert-base-uncased_L9_no-idf\n" in text
    assert "% new\\ns_1: mean BERTScore F1 by n\n\\begin{tabular}{lr}\n" in text


def test_a_system_that_lacks_articles_is_marked_and_an_n_it_lacks_is_a_dash(run, make_points, tmp_path):
    points = make_points(("a", "b"), (7, 9), articles=8)
    points = [one for one in points if one.system == "a" or (one.n == 7 and one.article_id < "0004")]
    write_latex(tmp_path / "curves.tex", analyse(run, points))
    found = rows(tmp_path / "curves.tex")["b"]
    assert re.fullmatch(r"\.\d{3}\$\^\{\\circ\}\$\$_\{\\pm\.\d{3}\}\$", found[0])
    assert found[1] == "--"


def test_who_does_not_write_n_words_is_told(run, make_points, tmp_path):
    points = [
        dataclasses.replace(one, words=6) if one.system == "gpt" and one.n == 9 else one
        for one in make_points(("gpt", "lead"), (7, 9))
    ]
    write_latex(tmp_path / "curves.tex", analyse(run, points))
    text = (tmp_path / "curves.tex").read_text("utf-8")
    assert "% news: mean BERTScore F1 by n. gpt wrote 6.0 words at n = 9. Where systems do not write n words" in text
    write_latex(tmp_path / "curves.tex", analyse(run, make_points(("gpt", "lead"), (7, 9))))
    assert "words" not in (tmp_path / "curves.tex").read_text("utf-8")
