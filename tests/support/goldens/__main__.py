"""Two checkouts compared: `PYTHONPATH=tests/support python -m goldens BEFORE AFTER`.

Both run the same jobs and tools on this machine, one after the other, each with its own `.venv/bin/nws`. What is
stored, printed and written is compared: texts exactly, numbers to 1e-6. (Exactly is not possible: in what order a CPU
adds depends on the batch.) Each difference is a line. Exit code 1 if one of them is not in `NAMED`.
"""

import argparse
import re
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

from goldens.compared import differences
from goldens.made import CASES, make
from postgres_server import postgres_server

NAMED: dict[str, str] = {
    r"/raw_text is new: None": "a summary can keep a raw text beside its text",
    r"/text_file is gone: None": "texts are in their rows alone",
    r"/mixed is new: 0|/mixed is new: False": "a run that was resumed under other code is marked",
    r"report\.json: /fits is gone: \{\}": "no fitted lengths are asked for any longer",
    r"fluency_weight: 0.0'$|/fluency_weight is new: 0.0$": "a recipe is stored with all of its defaults",
    r"/error_class: 'PredictionError' → 'CorpusError'$": "nobody catches a missing prediction by a name of its own",
    r"(report, printed|nws correlate [^:]*): ": "one class prints all tables; report.json and CSV have their numbers",
    r"\.tex: (nothing → )?['\"]%": "a table's notes are its comments in LaTeX",
    r"kept\.tex: ": "the ends of intervals, since they need not lie evenly around a share",
    r"phase2 export recipe.yaml: ": "its keys stand in another order",
    r"/same_texts is gone: ": "nws compare counts the equal texts of its pair",
    r"/verdict: 'unknown: no random": "one sentence for a run and for a dataset without random",
    r"phase2 export README\.md: ": "a few lines instead of a model card; the numbers are in the report",
    r"policy\.json: /(format: 2 → 3|reading/bertscore/rescale is gone)": "BERTScore is not rescaled",
    r"^nws (score|keysentences) [^:]*: ": "one class prints all tables; --json and --per-row have their numbers",
    r"No n (up to|tried)|Try n above|[Tt]ry (longer|shorter)": "advice goes in one direction",
}
"""What differs on purpose: a regular expression that finds it in its line, and why."""

SHOWN = 6
"""Of differences at one place, at most so many are printed in full."""


def main() -> int:
    """Run both, compare, and say what differs."""
    parser = argparse.ArgumentParser(description="Compare what two checkouts of NWS compute.")
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--only", help="Names of cases, with commas between.")
    parser.add_argument(
        "--keep", type=Path, help="Folder for all that is made. What BEFORE made there is not made again."
    )
    args = parser.parse_args()
    cases = [case for case in CASES if not args.only or case.name in args.only.split(",")]
    with tempfile.TemporaryDirectory(prefix="nws-goldens-") as temporary, postgres_server() as server:
        folder = (args.keep or Path(temporary)).resolve()
        shutil.rmtree(folder / "after", ignore_errors=True)
        before = make(args.before.resolve(), folder / "before", cases, server.url)
        after = make(args.after.resolve(), folder / "after", cases, server.url)
    return _say(differences(before, after))


def _say(found: list[tuple[str, str]]) -> int:
    """Print differences, each a place and what differs there; 1 if one is not named."""
    shown: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for place, what in found:
        line = f"{place}: {what}"
        if reason := next((reason for pattern, reason in NAMED.items() if re.search(pattern, line)), None):
            reasons[reason] += 1
            continue
        shown[place] += 1
        if shown[place] <= SHOWN:
            print(line)
    for place, count in shown.items():
        if count > SHOWN:
            print(f"{place}: {count - SHOWN} more")
    for reason, count in reasons.items():
        print(f"named, {count} times: {reason}")
    print(f"{sum(shown.values())} differences that are not named")
    return int(bool(shown))


if __name__ == "__main__":
    sys.exit(main())
