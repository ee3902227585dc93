"""What runs are compared in."""

from run_infos import run_info

from nws.jobs.report.metric_names import default_metric


def test_runs_are_compared_in_content_kept_where_all_measure_it_alike() -> None:
    with_kept, other = ({"signatures": {"kept": "kept|ref:first", "bertscore": name}} for name in ("a", "b"))
    assert default_metric(run_info(**with_kept), run_info(**with_kept)) == "kept"
    assert default_metric(run_info(**with_kept), run_info(**other)) == "bertscore_f1"
    before = {"signatures": {"kept": "kept|ref:first|R:recall of bertscore", "bertscore": "a"}}
    assert default_metric(run_info(**with_kept), run_info(**before)) == "bertscore_f1"
    assert default_metric(run_info(signatures={"bertscore": "a"})) == "bertscore_f1"
