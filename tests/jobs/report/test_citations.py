"""What is cited, read by bibtexparser as a paper's tools would."""

import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import bibtexparser
import yaml
from run_infos import run_info

from core.models import SMOLLM2, SMOLLM2_VERSION
from jobs.report import citations as module
from jobs.report.citations import AUTHOR, TITLE, Citations, bibtex, citations
from jobs.store import RunInfo

ROOT = Path(__file__).parents[3]
COMMIT = "a" * 40


def entries(run: RunInfo, *systems: str) -> dict[str, dict[str, str]]:
    found = citations(run, systems)
    parser = bibtexparser.bparser.BibTexParser(ignore_nonstandard_types=False)
    read = bibtexparser.loads(bibtex(run, found), parser).entries_dict
    assert len(read) == len(found.entries)
    return read


def using(model: str, **more: object) -> RunInfo:
    revisions = {"encoders": {"m": model}, "bertscore": model, "segmentation": "spacy.blank(en)"}
    return run_info(revisions=revisions, **{"signatures": {"bertscore": "", "rouge": ""}, **more})


def test_every_publication_is_one_that_something_leads_to() -> None:
    text = (ROOT / "jobs" / "report" / "publications.bib").read_text(encoding="utf-8")
    source = Path(module.__file__).read_text(encoding="utf-8")
    published = bibtexparser.loads(text).entries_dict
    assert len(published) == text.count("\n@") + 1
    assert all({"author", "title", "year"} <= entry.keys() for entry in published.values())
    named = set(re.findall(r'"([a-z]+\d{4}[a-z0-9]+)"', source))
    assert named == set(published)


def test_what_a_sweep_uses_is_cited() -> None:
    model = f"sentence-transformers/all-MiniLM-L6-v2@{COMMIT}"
    recipe = {"datasets": [{"name": f"abisee/cnn_dailymail:3.0.0@{COMMIT}"}]}
    found = entries(using(model, recipe=recipe), "all-MiniLM-L6-v2|lexrank|chunks", "lead")
    assert set(found) == {
        "nws",
        "ansel2024pytorch",
        "wolf2020transformers",
        "honnibal2020spacy",
        "moritz2018ray",
        "zhang2020bertscore",
        "lin2004rouge",
        "erkan2004lexrank",
        "hub:sentence-transformers/all-MiniLM-L6-v2",
        "reimers2019sentence",
        "wang2020minilm",
        "hub:abisee/cnn_dailymail",
        "hermann2015teaching",
        "see2017get",
    }
    assert found["nws"]["note"] == "Code 0.1.0 (hash of its sources: gabc1234), run p1-0421, seed 7"
    assert COMMIT in found["hub:abisee/cnn_dailymail"]["note"]
    assert found["hub:abisee/cnn_dailymail"]["howpublished"].endswith(r"datasets/abisee/cnn_dailymail}")


def test_what_was_not_used_is_not_cited() -> None:
    found = entries(using(f"{SMOLLM2}@{SMOLLM2_VERSION}", device="inline, 1 CPU thread", signatures={}), "lead")
    assert set(found) == {"nws", "ansel2024pytorch", "wolf2020transformers", "honnibal2020spacy", "allal2025smollm2"}
    assert "williams1992simple" in entries(using(f"{SMOLLM2}@{SMOLLM2_VERSION}", job="phase2"), "joint")


def test_what_has_no_entry_is_named() -> None:
    generators = {"gpt|prompt=1": "gpt at https://host/v1|prompt='x'", "bart": f"facebook/bart-large-cnn@{COMMIT}|bart"}
    revisions = {
        "encoders": {"m": "/models/mine@sha256:0"},
        "bertscore": f"doe/gone@{COMMIT}",
        "generators": generators,
    }
    run = run_info(revisions=revisions, recipe={"datasets": [{"name": "/data/news.jsonl"}, {"name": "sample"}]})
    found = citations(run, ())
    assert found.without == (
        "The model /models/mine@sha256:0 is not from the Hub: cite where you have it from.",
        "The card of the model doe/gone may say what else to cite: https://huggingface.co/doe/gone",
        "The dataset /data/news.jsonl is not from the Hub: cite where you have it from.",
        "gpt|prompt=1 is an endpoint: cite its model as its maker asks.",
    )
    read = entries(run)
    assert "lewis2020bart" in read
    assert read["hub:doe/gone"]["note"] == f"Revision {COMMIT}"
    assert bibtex(run, found).count("\n% The ") == 3
    assert bibtex(run, Citations((), ())) == f"% What run {run.id} of NWS used. How to report it: docs/reporting.md\n"


def test_the_citation_file_says_the_same() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.citation-file-format"]
    subprocess.run([*command, str(ROOT / "CITATION.cff")], check=True, capture_output=True)
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (cited["title"], cited["authors"]) == (TITLE, [{"name": AUTHOR}])
    assert cited["version"] == importlib.metadata.version("nws")
