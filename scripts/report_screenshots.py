"""Takes the pictures of the report page that the documentation shows.

Run it as ``.venv/bin/python scripts/report_screenshots.py [tree] [ensemble] [number] [scores]``.
Chromium must be installed, or named by the variable CHROMIUM. The models are trained anew with
fresh noise, as those to publish would be, so that they differ from run to run.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from privatree import (
    PrivaBoostClassifier,
    PrivaTreeClassifier,
    PrivaTreeRegressor,
    Schema,
    Target,
    datasets,
)
from privatree.evaluation import private_scores
from privatree.report import html_report

IMAGES = Path(__file__).parents[1] / "docs" / "images"
DESKTOP = {"width": 1280, "height": 1560}
LOOKS = {
    "desktop": {"viewport": DESKTOP, "color_scheme": "light"},
    "dark": {"viewport": DESKTOP, "color_scheme": "dark"},
    "phone": {
        "viewport": {"width": 390, "height": 1560},
        "device_scale_factor": 2,
        "color_scheme": "light",
    },
}
PAPER = {"viewport": {"width": 820, "height": 1160}, "color_scheme": "light"}
"""About the proportions of a sheet, for a picture of what is printed."""
COLOURS = 128
"""Of a picture: enough for a page of few, and a third of the bytes."""
RECORD = {"relationship": "Husband", "marital-status": "Married-civ-spouse", "age": "44",
          "occupation": "Exec-managerial", "education-num": "13", "capital-gain": "0",
          "capital-loss": "0", "hours-per-week": "45"}  # fmt: skip


def main() -> None:
    frame, labels, schema = datasets.load("adult")
    kinds = sys.argv[1:] or ["tree", "ensemble", "number", "scores"]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = os.environ.get("CHROMIUM") or shutil.which("chromium")
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"]
        )
        page = Path(folder) / "report.html"
        if "tree" in kinds:
            tree = PrivaTreeClassifier(epsilon=0.1, max_depth=4, schema=schema)
            page.write_text(html_report(tree.fit(frame, labels)), encoding="utf-8")
            for name, look in LOOKS.items():
                take(browser, page, IMAGES / f"report-{name}.png", look)
        if "ensemble" in kinds:
            ensemble = PrivaBoostClassifier(epsilon=1.0, schema=schema)
            page.write_text(html_report(ensemble.fit(frame, labels)), encoding="utf-8")
            for name, look in (LOOKS | {"print": PAPER}).items():
                take(browser, page, IMAGES / f"report-ensemble-{name}.png", look)
        if "number" in kinds:
            features = {n: f for n, f in schema.features.items() if n != "hours-per-week"}
            target = Target(0, 100, integer=True, name="hours-per-week")
            number = PrivaTreeRegressor(epsilon=1.0, schema=Schema(features, target=target))
            fitted = number.fit(frame[list(features)], frame["hours-per-week"])
            page.write_text(html_report(fitted), encoding="utf-8")
            take(browser, page, IMAGES / "report-number.png", LOOKS["desktop"], "#tree")
        if "scores" in kinds:
            ensemble = PrivaBoostClassifier(epsilon=1.0, schema=schema)
            fitted = ensemble.fit(frame[::2], labels[::2])
            scores = private_scores(fitted, frame[1::2], labels[1::2], epsilon=0.1)
            page.write_text(html_report(fitted, scores=scores), encoding="utf-8")
            take(browser, page, IMAGES / "report-scores.png", LOOKS["desktop"], "#quality")
        browser.close()


def take(
    browser: Browser, file: Path, picture: Path, look: dict[str, object], part: str | None = None
) -> None:
    """Take a picture of the upper part of a page, or of one of its sections."""
    page = browser.new_context(**look).new_page()  # type: ignore[arg-type]
    page.goto(file.as_uri())
    for label, value in RECORD.items():
        field = page.get_by_label(label, exact=True)
        if field.count():
            is_choice = field.evaluate("(field) => field.tagName") == "SELECT"
            _ = field.select_option(label=value) if is_choice else field.fill(value)
    page.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
    if look is PAPER:
        page.emulate_media(media="print")
    if part is None:
        page.screenshot(path=picture)
    else:
        page.locator(part).screenshot(path=picture)
    page.context.close()
    with Image.open(picture) as taken:
        taken.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(
            picture, optimize=True
        )


if __name__ == "__main__":
    main()
