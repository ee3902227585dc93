import re

from policy_results import make_results

from jobs.report.numerals import decimals
from jobs.report.policy_numbers import analyse_policies
from jobs.report.report_files import means_latex
from jobs.report.sweep_numbers import analyse


def rows(text):
    """By the first cell, the others of each line of the table."""
    lines = [line.removesuffix(r" \\").split(" & ") for line in text.splitlines() if " & " in line]
    return {first: others for first, *others in lines}


def test_systems_by_n_with_the_highest_in_bold(run, make_points):
    numbers = analyse(run, make_points(("a_b", "lead", "oracle", "random"), (7, 9)))
    text = means_latex(numbers)
    table = rows(text)
    assert set(table) == {"$n$", r"a\_b", "lead (control)", "oracle (upper bound)", "random (control)"}
    assert table["$n$"] == ["7", "9"]
    at = {curve.system: curve.lengths[1] for curve in numbers.curves}
    half = decimals(at["a_b"].half_width)
    assert table[r"a\_b"][1] == rf"\textbf{{{decimals(at['a_b'].mean)}}}$_{{\pm{half}}}$"
    assert table["oracle (upper bound)"][1].startswith(decimals(at["oracle"].mean))  # above it, and no choice
    assert "textbf" not in "".join(table["lead (control)"] + table["random (control)"])


def test_a_table_for_each_dataset_in_booktabs_form_and_what_made_it(run):
    results = [make_results(dataset=name, articles=4) for name in ("a_b%", "c\nd")]
    both = make_results(points=[point for result in results for point in result.points])
    text = means_latex(analyse_policies(run, both, "rouge1_f1"), " on test articles")
    assert f"% Run {run.id}, done, seed 7, code 0.1.0+gabc1234.\n% ROUGE-1 F1: " in text
    assert re.findall(r"% (.+): mean ROUGE-1 F1 by n on test articles", text) == ["a_b%", r"c\nd"]
    for part in (r"\begin{tabular}{lrrrr}", r"\toprule", r"\midrule", r"\bottomrule", r"\end{tabular}"):
        assert text.count(part) == 2
    for line in text.splitlines():
        assert line.startswith("%") or not re.search(r"(?<!\\)[%#]", line)
        assert line.count("&") in (0, 4) or line.startswith("%")
