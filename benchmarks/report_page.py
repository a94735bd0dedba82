"""Size of the report page, and how long a browser takes to draw it.

Run it as ``.venv/bin/python benchmarks/report_page.py``; Chromium must be installed, or named by
the variable CHROMIUM. "drawn" is the time from the navigation until the script has drawn all charts
that are shown at first, the best of five. "typed" is how long a new value takes to be shown.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from privatree import PrivaBoostClassifier, PrivaTreeClassifier, datasets
from privatree.report import html_report

RUNS = 5
DRAWN = "() => performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
TYPED = """() => {
    const start = performance.now();
    document.getElementById("made-up").click();
    document.body.getBoundingClientRect(); // with its layout
    return performance.now() - start;
}"""


def main() -> None:
    frame, labels, schema = datasets.load("adult")
    learners = {
        "tree, epsilon 0.1": PrivaTreeClassifier(0.1, schema=schema, random_state=0),
        "ensemble, epsilon 1": PrivaBoostClassifier(1.0, schema=schema, random_state=0),
        "ensemble of depth 3, epsilon 4": PrivaBoostClassifier(
            4.0, max_depth=3, schema=schema, random_state=0
        ),
    }
    print(f"{'adult':32}  {'bytes':>9}  {'written':>8}  {'drawn':>8}  {'typed':>8}")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = os.environ.get("CHROMIUM") or shutil.which("chromium")
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"]
        )
        for name, learner in learners.items():
            model = learner.fit(frame, labels).model_
            start = time.perf_counter()
            text = html_report(model)
            written = time.perf_counter() - start
            file = Path(folder) / "page.html"
            file.write_text(text, encoding="utf-8")
            drawn, typed = measure(browser, file)
            print(
                f"{name:32}  {len(text.encode()):9,}  {written:6.2f} s  {drawn:5.0f} ms  "
                f"{typed:5.0f} ms"
            )
        browser.close()


def measure(browser: Browser, file: Path) -> tuple[float, float]:
    drawn, typed = [], []
    for _ in range(RUNS):
        page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        page.goto(file.as_uri())
        drawn.append(page.evaluate(DRAWN))
        typed.append(page.evaluate(TYPED))
        page.context.close()
    return min(drawn), min(typed)


if __name__ == "__main__":
    main()
