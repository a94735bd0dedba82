"""How long a person waits: import, first fit with compilation, refit of a small table.

    python benchmarks/latency.py [--json figures.json]

The first fit runs in a new process with an empty compilation cache. scikit-learn's import and fit
in the same run are there to compare with.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

from sklearn.tree import DecisionTreeClassifier

from privatree import PaperClaimWarning, PaperPrivaTreeClassifier, datasets
from result_files import add_json_option, write_result

FIRST_FIT = """
import warnings; warnings.simplefilter("ignore")
from privatree import PaperPrivaTreeClassifier, datasets
frame, labels, schema = datasets.load("adult")
PaperPrivaTreeClassifier(0.1, schema=schema).fit(frame, labels).predict(frame)
"""


def run(code: str, cache: str | None = None) -> float:
    environment = dict(os.environ) | ({"NUMBA_CACHE_DIR": cache} if cache else {})
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    return time.perf_counter() - start


def median_of(times: int, call: object) -> float:
    found = []
    for _ in range(times):
        start = time.perf_counter()
        call()  # type: ignore[operator]
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def main() -> None:
    parser = argparse.ArgumentParser()
    add_json_option(parser)
    arguments = parser.parse_args()
    figures: list[dict[str, object]] = []

    def show(what: str, seconds: float) -> None:
        print(f"{what:40s}{seconds:8.3f} s")
        figures.append({"what": what, "seconds": seconds})

    warnings.simplefilter("ignore", PaperClaimWarning)
    empty = run("pass")
    imports = {
        "import privatree": "import privatree",
        "import of the estimator": "from privatree import PaperPrivaTreeClassifier",
        "import sklearn.tree": "import sklearn.tree",
    }
    for what, code in imports.items():
        show(what, statistics.median(run(code) for _ in range(5)) - empty)
    with tempfile.TemporaryDirectory() as cache:
        show("first fit of Adult, nothing compiled", run(FIRST_FIT, cache))
        show("the same in another process", run(FIRST_FIT, cache))
    frame, labels, schema = datasets.load("vote")
    numbers = frame.apply(lambda column: column.cat.codes)
    model = PaperPrivaTreeClassifier(0.1, schema=schema)
    model.fit(frame, labels)
    ours = median_of(100, lambda: model.fit(frame, labels))
    peer = median_of(100, lambda: DecisionTreeClassifier(max_depth=4).fit(numbers, labels))
    show("refit of vote", ours)
    print(f"{'':40s}{ours / peer:8.1f} x scikit-learn")
    figures[-1]["ratio"] = ours / peer
    write_result(arguments.json, figures, "none")


if __name__ == "__main__":
    main()
