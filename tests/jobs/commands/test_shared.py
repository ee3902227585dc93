"""What a command that has run a sweep prints at its end."""

import json
import sqlite3

import pytest


@pytest.mark.slow
def test_a_sweep_ends_with_how_many_words_keep_how_much(tmp_path, nws):
    store = f"sqlite:///{tmp_path / 'answer.db'}"
    submit = ("submit", "baselines", "--engine", "inline", "--limit", "6", "--system", "lead", "--system", "random")
    ended = nws(*submit, "--system", "lexrank", "--n", "3,9", "--store", store)
    assert ended.code == 0
    answer, _, outcome = ended.out.partition("\n\nRun ")
    heading, headline, *lines = answer.strip().splitlines()
    assert heading == "sample: how many words keep how much? (6 articles, 2 lengths from 3 to 9 words)"
    assert [line.partition(": ")[0] for line in lines] == ["lexrank", "To compare", "Next"]
    assert headline.startswith("9 words keep ")
    assert lines[0].startswith("lexrank: 3 words keep ")
    assert "With 6 articles no n is claimed: take at least 12." in lines[-1]
    assert f"nws plan {outcome.split()[0]} --store {store}" in lines[-1]
    assert "is done: 6 articles, " in outcome

    run = outcome.split()[0]
    told = nws("report", run, "--store", store, "--out", "answer").out
    assert "".join(told.split()).startswith("".join(answer.split()))  # first of all, in as many lines as it takes
    report = json.loads((tmp_path / "answer" / "report.json").read_text("utf-8"))
    shares = {
        (of["system"], at["n"]): at["share"] for of in report["kept"] if of["of"] == "reference" for at in of["lengths"]
    }
    with sqlite3.connect(tmp_path / "answer.db") as connection:
        stored = connection.execute("SELECT system, n, share FROM content_kept WHERE of = 'reference' AND n > 0")
        assert {(system, n): share for system, n, share in stored} == shares
        means = connection.execute("SELECT system, n, AVG(kept) FROM summaries WHERE n > 0 GROUP BY system, n")
        assert {(system, n): mean for system, n, mean in means} == pytest.approx(shares)
