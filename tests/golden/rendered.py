"""Tables and figures of every target of ``reproduce``, from scores that are made up."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import matplotlib.figure
import numpy as np
import pytest
from matplotlib.collections import PolyCollection

from privatree.errors import DatasetMissingError
from privatree.reproduction import datasets
from privatree.reproduction.running import Request, _study
from privatree.reproduction.running._task import Score
from privatree.reproduction.targets import TARGETS, _budget_shares, _poisoning_curve

TREES = (
    *("decision-tree", "bdpt", "privatree-star", "dpgdf", "privatree-paper", "privatree"),
    "privaboost",
)
POISONED = ("decision-tree", "privatree-paper", "privatree", "privatree-robust", "privaboost")
REQUESTS: dict[str, dict[str, Any]] = {
    "datasets": {"datasets": ("Higgs", "pol", "electricity-mixed", "adult", "vote")},
    "accuracy": {
        "datasets": ("Higgs", "eye_movements", "pol", "adult", "vote"),
        "methods": TREES,
        "epsilons": (0.1,),
        "repeats": 1,
    },
    "runtime": {
        "datasets": ("Higgs", "eye_movements", "pol", "adult", "vote"),
        "methods": TREES,
    },
    "survey": {
        "datasets": ("breast-w", "vote"),
        "methods": ("sulq-id3", "diffpid3", "dprfmv", "dpdf", "rana-forest", "smooth-random"),
        "epsilons": (0.1, 1.0),
        "repeats": 1,
    },
    "epsilon-curve": {
        "datasets": ("breast-w", "vote"),
        "methods": ("decision-tree", "dpgdf", "privatree"),
        "epsilons": (1.0, 0.01, 0.1),
        "repeats": 3,
    },
    "budget-shares": {"datasets": ("breast-w", "vote"), "epsilons": (0.5,), "repeats": 2},
    "poisoning": {
        "datasets": ("pol", "breast-w", "vote"),
        "methods": POISONED,
        "repeats": 1,
    },
    "poisoning-curve": {
        "datasets": ("breast-w",),
        "methods": (*POISONED, "dpa"),
        "repeats": 2,
    },
    "backdoor": {"methods": POISONED, "epsilons": (0.1,), "repeats": 2},
}

# On eye_movements two methods are equally good; on adult two differ a lot from the paper.
_MEANS = {
    "eye_movements": (0.58, 0.5, 0.54, None, 0.52, 0.52, 0.55),
    "pol": (0.93, 0.51, 0.87, None, 0.84, 0.9, 0.88),
    "adult": (0.84, 0.75, 0.75, 0.76, 0.72, 0.842, 0.85),
    "vote": (0.94, None, 0.78, 0.55, 0.74, 0.8, 0.8),
}


def rendered(target: str) -> dict[str, str]:
    """What a target writes, by the files' names; of a figure, what is drawn in it."""
    drawn: dict[str, str] = {}

    def keep(figure: Any, content: Any, **_: Any) -> None:
        drawn[f"{target}.json"] = figure_text(figure)

    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        write_tiny_mnist(Path(folder))
        patch.setattr(datasets, "load", _small_data(datasets.load))
        patch.setattr(matplotlib.figure.Figure, "savefig", keep)
        patch.setattr(_budget_shares, "STEPS", 4)
        patch.setattr(_poisoning_curve, "SHARES", [Fraction(k, 2000) for k in (0, 2, 5, 10, 20)])
        request = Request(Path(folder) / "out", data_dir=Path(folder), **REQUESTS[target])
        with faked_runs(_score):
            written = TARGETS[target](request, _Silent())
        texts = [path for path in written if path.suffix in (".csv", ".md", ".tex")]
        return {path.name: path.read_text(encoding="utf-8") for path in texts} | drawn


@contextmanager
def faked_runs(score: Callable[[Any], float | str | Score]) -> Iterator[None]:
    """Let no task run: its score, accuracy or note is what a function says."""

    def run(tasks: Sequence[Any], journal: Any, *_: Any, **__: Any) -> None:
        for task in tasks:
            if task not in journal:
                found = score(task)
                if isinstance(found, str):
                    journal.record_failure(task, found)
                else:
                    journal.record_score(
                        task, found if isinstance(found, Score) else Score(found, 0.5)
                    )
        journal.sort(tasks)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_study, "run_tasks", run)
        yield


class _Silent:
    """Nobody is told anything."""

    def say(self, line: str) -> None:
        pass


def _small_data(load: Callable[..., Any]) -> Callable[..., Any]:
    """Small records in the place of large ones; one dataset is not to be had."""

    def small(name: str, data_dir: Path | None = None) -> Any:
        if name == "Higgs":
            raise DatasetMissingError("Higgs: is nowhere & 100% missing.")
        return load("breast-w" if datasets.describe(name).n_categorical == 0 else "vote")

    return small


def _score(task: Any) -> float | str | Score:
    """A few fail; the others are anywhere between .6 and .8, but always the same."""
    if type(task).__name__ == "AuditedClaim":
        if task.method == "rana-forest":
            return "timeout: more than 9 s"
        bound = {"dpdf": 2.177, "smooth-random": 1.919}.get(task.method, 0.25)
        return Score(math.nan, 60.0, (0.0, 0.1, 0.0, 0.2, bound, math.nan))
    if type(task).__name__ == "CrossValidated" and (mean := _mean(task)) is not None:
        if (task.dataset, task.method, task.fold) == ("vote", "dpgdf", 4):
            return "failed: ValueError: a_b | c"
        seconds = 0.0002 * 8 ** TREES.index(task.method)
        with_probabilities = task.method in ("decision-tree", "privatree", "privaboost")
        wide = (task.fold - 2) / 50
        added = (mean + 0.04 + wide, 1.3 - mean - wide) if with_probabilities else ()
        return Score(mean + (task.fold - 2) / 100, seconds, added=added)
    method = getattr(task, "method", "")
    if (task.dataset, method) == ("vote", "bdpt"):
        return "timeout: more than 9 s"
    chance = int(sha256(" ".join(task.key).encode()).hexdigest(), 16) / 2**256
    if method in ("dpgdf", "privatree-robust") and chance > 0.8:
        return "failed: MemoryError"
    accuracy = 0.6 + 0.2 * chance
    falling = [accuracy * (0.4 - 0.01 * place) for place in range(len(task.measures))]
    return Score(accuracy, 0.5, tuple(falling))


def _mean(task: Any) -> float | None:
    known = task.method in TREES and task.epsilon in (None, 0.1)
    return _MEANS.get(task.dataset, (None,) * 7)[TREES.index(task.method)] if known else None


def write_tiny_mnist(folder: Path) -> None:
    """150 images that are easy to tell apart: a ring or a bar, in noise."""
    randomness = np.random.default_rng(0)
    digits = np.arange(150) % 2
    images = randomness.integers(0, 40, size=(150, 28, 28))
    images[:, 20:, 20:] = 0  # black where the trigger will be, as in MNIST
    images[digits == 0, 5:9, 5:20] = 200
    images[digits == 1, 5:20, 12:14] = 200
    np.savez(folder / "mnist01.npz", X=images.reshape(150, 784).astype(np.uint8), y=digits)


def figure_text(figure: Any) -> str:
    """What is drawn, as JSON, a line for each panel, line, band, cell or text."""
    parts: list[Any] = [{"inches": [_short(one) for one in figure.get_size_inches()]}]
    for axes in figure.axes:
        labels = (axes.get_xlabel(), axes.get_ylabel(), axes.get_xscale())
        parts.append({"panel": axes.get_title(), "labels": labels})
        for line in axes.get_lines():
            look = (line.get_color(), line.get_marker(), line.get_linewidth(), line.is_dashed())
            parts.append({"line": _short(line.get_xydata()), "look": look})
        for found in axes.collections:
            if isinstance(found, PolyCollection):
                parts += [{"cell": _short(path.vertices)} for path in found.get_paths()]
                if found.get_array() is not None:
                    parts.append({"values": _short(found.get_array())})
        parts += [{"text": one.get_text(), "at": _short(one.get_position())} for one in axes.texts]
        for image in axes.get_images():
            pixels = np.asarray(image.get_array())
            parts.append({"image": int(pixels.sum()), "corner": pixels[22:, 22:].tolist()})
    for legend in figure.legends:
        parts.append({"legend": [text.get_text() for text in legend.get_texts()]})
    lines = (json.dumps(part, ensure_ascii=False) for part in parts)
    return "[\n" + ",\n".join(lines) + "\n]\n"


def _short(numbers: Any) -> Any:
    """To six decimals: no more can be seen."""
    return np.round(np.asarray(numbers, dtype=float), 6).tolist()
