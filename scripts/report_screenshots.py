"""Takes the pictures of the report page that the documentation shows.

Run it as ``.venv/bin/python scripts/report_screenshots.py``; Chromium must be installed, or named
by the variable CHROMIUM. The model is trained anew with fresh noise, as one to publish would be, so
that the tree differs from run to run.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from privatree import PrivaTreeClassifier, datasets
from privatree.report import html_report

IMAGES = Path(__file__).parents[1] / "docs" / "images"
PICTURES = {
    "report-desktop.png": {"viewport": {"width": 1280, "height": 1560}, "color_scheme": "light"},
    "report-dark.png": {"viewport": {"width": 1280, "height": 1560}, "color_scheme": "dark"},
    "report-phone.png": {
        "viewport": {"width": 390, "height": 1560},
        "device_scale_factor": 2,
        "color_scheme": "light",
    },
}
COLOURS = 128
"""Of a picture: enough for a page of few, and a third of the bytes."""
RECORD = {"relationship": "Husband", "marital-status": "Married-civ-spouse", "age": "44",
          "occupation": "Exec-managerial", "education-num": "13", "capital-gain": "0",
          "capital-loss": "0", "hours-per-week": "45"}  # fmt: skip


def main() -> None:
    frame, labels, schema = datasets.load("adult")
    model = PrivaTreeClassifier(epsilon=0.1, max_depth=4, schema=schema).fit(frame, labels)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = Path(folder) / "report.html"
        page.write_text(html_report(model), encoding="utf-8")
        path = os.environ.get("CHROMIUM") or shutil.which("chromium")
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"]
        )
        for name, look in PICTURES.items():
            take(browser, page, IMAGES / name, look)
        browser.close()


def take(browser: Browser, file: Path, picture: Path, look: dict[str, object]) -> None:
    page = browser.new_context(**look).new_page()  # type: ignore[arg-type]
    page.goto(file.as_uri())
    for label, value in RECORD.items():
        field = page.get_by_label(label, exact=True)
        if field.count():
            is_choice = field.evaluate("(field) => field.tagName") == "SELECT"
            _ = field.select_option(label=value) if is_choice else field.fill(value)
    page.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
    page.screenshot(path=picture)
    page.context.close()
    with Image.open(picture) as taken:
        taken.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(
            picture, optimize=True
        )


if __name__ == "__main__":
    main()
