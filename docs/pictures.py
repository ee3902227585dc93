"""The pictures of README: the page of a run on the bundled sample, and its viewer. `make pictures` makes them anew."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

PICTURES = Path(__file__).parent / "pictures"
WIDTH, HEIGHT = 1120, 860


def main() -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("Chromium is not installed: apt-get install chromium")
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        page_file, store = Path(folder) / "report.html", f"sqlite:///{folder}/nws.db"
        for command in (["submit", "phase1", "--engine", "inline"], ["report", "--page", str(page_file)]):
            subprocess.run([sys.executable, "-m", "jobs.cli", *command, "--store", store], check=True)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
            page.goto(page_file.as_uri())
            page.wait_for_selector("#summaries p")
            page.screenshot(path=PICTURES / "page.png")
            page.locator("#other").select_option(label="lead")
            page.locator("#n").press("ArrowRight")
            page.locator("#viewer").scroll_into_view_if_needed()
            page.evaluate("document.getElementById('viewer').scrollIntoView({behavior: 'instant'})")
            page.screenshot(path=PICTURES / "viewer.png")
            browser.close()


if __name__ == "__main__":
    main()
