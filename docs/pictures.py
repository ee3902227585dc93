"""The pictures of README: `make pictures ARTICLES=cnn_dailymail.jsonl` makes them anew.

The page is of a run on these articles, and shows none of their texts; the viewer is of a run on the bundled sample.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

PICTURES = Path(__file__).parent / "pictures"
WIDTH, HEIGHT = 1440, 900


def main(articles: str) -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("Chromium is not installed: apt-get install chromium")
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        datasets = {"page": articles, "viewer": "sample"}
        pages = {name: write_page(Path(folder) / name, dataset) for name, dataset in datasets.items()}
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
            page.goto(pages["page"].as_uri())
            page.wait_for_selector("#summaries p")
            page.screenshot(path=PICTURES / "page.png")
            page.goto(pages["viewer"].as_uri())
            page.wait_for_selector("#summaries p")
            page.evaluate("document.getElementById('viewer').scrollIntoView({behavior: 'instant'})")
            page.screenshot(path=PICTURES / "viewer.png")
            browser.close()


def write_page(folder: Path, dataset: str) -> Path:
    """The page of a Phase 1 run on a dataset."""
    folder.mkdir()
    store = f"sqlite:///{folder}/nws.db"
    for command in (["submit", "phase1", "--engine", "inline", "--dataset", dataset], ["report", "-o", "report.html"]):
        subprocess.run([sys.executable, "-m", "nws.jobs.cli", *command, "--store", store], check=True, cwd=folder)
    return folder / "report.html"


if __name__ == "__main__":
    main(*[str(Path(name).resolve()) for name in sys.argv[1:]] or ["sample"])
