import re

from policy_results import make_results

from jobs.report.policies.latex_scores import write_latex
from jobs.report.policies.numbers import analyse_policies
from jobs.terminal.numerals import decimals


def rows(path):
    """By the first cell, the others of each line of the table."""
    lines = [line.removesuffix(r" \\").split(" & ") for line in path.read_text("utf-8").splitlines() if " & " in line]
    return {first: others for first, *others in lines}


def test_policies_and_what_they_are_compared_with_by_n(run, tmp_path):
    numbers = analyse_policies(run, make_results())
    write_latex(tmp_path / "policies.tex", numbers)
    table = rows(tmp_path / "policies.tex")
    assert table["$n$"] == ["7", "9", "11", "13"]
    policy = next(score for score in numbers.scores if score.is_policy and score.n == 9)
    mean, half = decimals(policy.score.mean), decimals(policy.score.half_width)
    assert table[r"policy\textbar{}reinforce"][1] == rf"\textbf{{{mean}}}$_{{\pm{half}}}$"
    oracle = next(score for score in numbers.scores if score.system == "oracle" and score.n == 9)
    assert table["oracle (upper bound)"][1].startswith(decimals(oracle.score.mean))  # above it, and no choice
    assert len(table) == 1 + len({score.system for score in numbers.scores})


def test_a_table_for_each_dataset_in_booktabs_form_and_what_made_it(run, tmp_path):
    results = [make_results(dataset=name, articles=4) for name in ("a_b%", "c")]
    both = make_results(points=[point for result in results for point in result.points])
    write_latex(tmp_path / "policies.tex", analyse_policies(run, both, "rouge1_f1"))
    text = (tmp_path / "policies.tex").read_text("utf-8")
    assert f"% Run {run.id}, done, seed 7, code 0.1.0+gabc1234.\n% ROUGE-1 F1: " in text
    assert re.findall(r"% (.+): mean ROUGE-1 F1 by n on test articles", text) == ["a_b%", "c"]
    for part in (r"\begin{tabular}{lrrrr}", r"\toprule", r"\midrule", r"\bottomrule", r"\end{tabular}"):
        assert text.count(part) == 2
    for line in text.splitlines():
        assert line.startswith("%") or not re.search(r"(?<!\\)[%#]", line)
        assert line.count("&") in (0, 4) or line.startswith("%")
