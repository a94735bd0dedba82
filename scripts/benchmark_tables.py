"""Put the figures of ``benchmarks/results/`` into the tables of the pages.

    python scripts/benchmark_tables.py

A table stands between ``<!-- table: NAME -->`` and ``<!-- end of table -->``.
``tests/contract/test_benchmark_tables.py`` fails if a page is not what it would be after this.
"""

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import mean
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PAGES = [
    ROOT / "docs" / f"{name}.md"
    for name in ("accuracy", "boosting", "speed", "scale", "persons", "regression", "scores")
]

Figures = list[dict[str, Any]]
_PLACE = re.compile(
    r"(?P<start><!-- table: (?P<name>[\w-]+) -->\n).*?(?P<end><!-- end of table -->)", re.DOTALL
)


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown."""
    header = list(header)
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


# --- accuracy -----------------------------------------------------------------------------------

EPSILONS = (0.01, 0.1, 1)
SHORT_NAMES = {"default-of-credit-card-clients": "default-of-credit",
               "nursery-5": "nursery, all classes"}  # fmt: skip


def accuracy(figures: Figures) -> str:
    """Return the table of accuracy: a row for each dataset, then the means, with ours in bold."""
    found = {(row["dataset"], row["epsilon"], row["max_depth"]): row for row in figures}
    columns: list[tuple[str, list[dict[str, Any]], str]] = []
    names = list(dict.fromkeys(row["dataset"] for row in figures))
    for epsilon in EPSILONS:
        rows = [found[name, epsilon, 4] for name in names]
        columns.append((f"epsilon {epsilon}" if not columns else f"{epsilon}", rows, "accuracy"))
        columns.append(("paper", rows, "published"))
    columns.append(("1, free depth", [found[name, 1, None] for name in names], "accuracy"))
    columns.append(("scikit-learn", [found[name, 1, 4] for name in names], "scikit_learn"))
    lines = [
        [SHORT_NAMES.get(name, name), *(_with_error(rows[place], key) for _, rows, key in columns)]
        for place, name in enumerate(names)
    ]
    means = [(mean(row[key] for row in rows), key) for _, rows, key in columns]
    lines.append(["**mean**", *(f"**{value:.3f}**" if key == "accuracy" else f"{value:.3f}"
                                for value, key in means)])  # fmt: skip
    return table(["dataset", *(title for title, _, _ in columns)], lines)


def _with_error(row: dict[str, Any], key: str) -> str:
    if key == "accuracy":
        return f"{row['accuracy']:.3f} ± {row['standard_error']:.3f}"
    return f"{row[key]:.3f}"


RANGES = {
    "1": "that of the data",
    "10": "ten widths too wide on both sides",
    "million": "-1,000,000 to 1,000,000",
}


def wide_ranges(figures: Figures) -> str:
    """Return the table of mean accuracy for each way to declare ranges."""
    lines = []
    for widen, title in RANGES.items():
        reached = [row["accuracy"] for row in figures if row["widen"] == widen]
        lines.append([title, f"{mean(reached):.3f}"])
    return table(["declared range of every number", "accuracy"], lines)


def multiclass(figures: Figures) -> str:
    """Return the table of datasets with more than two classes."""
    return table(
        ["dataset", "classes", "accuracy", "scikit-learn"],
        (
            [
                SHORT_NAMES.get(row["dataset"], row["dataset"]),
                str(row["classes"]),
                _with_error(row, "accuracy"),
                f"{row['scikit_learn']:.3f}",
            ]
            for row in figures
        ),
    )


def leaves(figures: Figures) -> str:
    """Return the table of what readers of a tree get: a row for each dataset, then the means."""
    epsilons = list(dict.fromkeys(row["epsilon"] for row in figures))
    keys = ("accuracy", "auc", "leaves", "empty")
    by_name: dict[str, list[dict[str, Any]]] = {}
    for row in figures:
        by_name.setdefault(row["dataset"], []).append(row)
    lines = [
        [name, *(_leaf_cell(key, row[key]) for row in rows for key in keys)]
        for name, rows in by_name.items()
    ]
    if len(lines) > 2:
        means = [
            _leaf_cell(key, mean(row[key] for row in figures if row["epsilon"] == epsilon))
            for epsilon in epsilons
            for key in keys
        ]
        lines.append(["**mean**", *(f"**{cell}**" for cell in means)])
    titles = ("accuracy", "AUC", "leaves", "leaves with nobody")
    columns = [f"epsilon {epsilon:g}: {title}" for epsilon in epsilons for title in titles]
    return table(["dataset", *columns], lines)


def _leaf_cell(key: str, value: float) -> str:
    return (
        f"{value:.1f}" if key == "leaves" else f"{value:.1%}" if key == "empty" else f"{value:.3f}"
    )


# --- persons ------------------------------------------------------------------------------------

WAYS = {
    "units": "**`units=`**",
    "cut": "4 records a person kept, epsilon/4 each",
    "divided": "all records, epsilon/20 each",
    "not private": "scikit-learn, not private",
}


def persons(figures: Figures) -> str:
    """Return the table of ways to protect whole persons: a row for each way."""
    epsilons = list(dict.fromkeys(row["epsilon"] for row in figures))
    columns = [f"{'epsilon ' * (not place)}{epsilon:g}" for place, epsilon in enumerate(epsilons)]
    lines = []
    for method, title in WAYS.items():
        mine = [row for row in figures if row["method"] == method]
        cells = [f"{row['persons']:.3f} ± {row['persons_error']:.3f}" for row in mine]
        behind = [
            "" if method == "units" else f" ({-row['ahead']:+.4f} ± {row['ahead_error']:.4f})"
            for row in mine
        ]
        lines.append([title, *(cell + more for cell, more in zip(cells, behind, strict=True))])
    return table(["all records of a person together are protected by", *columns], lines)


# --- scores -------------------------------------------------------------------------------------

SCORED = (
    ("accuracy", "two classes", "accuracy"),
    ("recall of a class of 30%", "two classes", "recall, rarest class"),
    ("recall of a class of 2%", "two classes, one rare", "recall, rarest class"),
    ("AUC", "two classes", "AUC"),
    ("accuracy of 5 classes", "five classes, tree", "accuracy"),
    ("R²", "number", "R²"),
    ("R², range ten times too wide", "number, range ten times too wide", "R²"),
)


def score_coverage(figures: Figures) -> str:
    """Return the table of half widths of intervals: a row for each size and epsilon."""
    found = {(row["records"], row["epsilon"], row["case"], row["metric"]): row for row in figures}
    lines = []
    for records, epsilon in dict.fromkeys((row["records"], row["epsilon"]) for row in figures):
        cells = [found[records, epsilon, case, metric] for _, case, metric in SCORED]
        least = min(
            row["coverage"]
            for row in figures
            if (row["records"], row["epsilon"]) == (records, epsilon)
        )
        lines.append(
            [
                f"{records:,}",
                f"{epsilon:g}",
                *(f"± {row['width'] / 2:.3f} ({row['ideal_width'] / 2:.3f})" for row in cells),
                f"{least:.3f}",
            ]
        )
    titles = [title for title, _, _ in SCORED]
    return table(["records", "epsilon", *titles, "least coverage"], lines)


# --- ensembles ----------------------------------------------------------------------------------

METHODS = {
    "privaboost": "**`PrivaBoostClassifier`**, delta 1e-6",
    "privaboost-pure": "**`PrivaBoostClassifier`**, delta 0",
    "privatree": "`PrivaTreeClassifier`, delta 0",
    "dp-ebm": "DP-EBM, delta 1e-6",
    "diffprivlib-forest": "diffprivlib, random forest",
    "diffprivlib-logistic": "diffprivlib, logistic regression",
    "lightgbm": "LightGBM, not private",
}
SCORES = ("accuracy", "auc", "log_loss")


def ensembles(figures: Figures) -> str:
    """Return the table of means over all datasets: a row for each method."""
    epsilons = list(dict.fromkeys(row["epsilon"] for row in figures))
    lines = []
    for method, title in METHODS.items():
        cells = []
        for epsilon in epsilons:
            rows = [r for r in figures if (r["method"], r["epsilon"]) == (method, epsilon)]
            cells.append(" / ".join(f"{mean(row[key] for row in rows):.3f}" for key in SCORES))
        lines.append([title, *cells])
    columns = [f"epsilon {epsilon:g}" for epsilon in epsilons]
    return table(["accuracy / AUC / log loss", *columns], lines)


def ensembles_by_dataset(figures: Figures) -> str:
    """Return the table of AUC at epsilon 1: a row for each dataset."""
    shown = [method for method in METHODS if not method.startswith("diffprivlib")]
    found = {(r["dataset"], r["method"]): r for r in figures if r["epsilon"] == 1}
    names = list(dict.fromkeys(name for name, _ in found))
    lines = [
        [
            SHORT_NAMES.get(name, name),
            *(f"{found[name, m]['auc']:.3f} ± {found[name, m]['auc_error']:.3f}" for m in shown),
        ]
        for name in names
    ]
    return table(["AUC", *(METHODS[method] for method in shown)], lines)


def ensembles_single(figures: Figures) -> str:
    """Return the table of two datasets on their own, at epsilon 1."""
    found = {(r["dataset"], r["method"]): r for r in figures}
    names = list(dict.fromkeys(name for name, _ in found))
    shown = [method for method in METHODS if (names[0], method) in found]
    lines = [
        [name, *(" / ".join(f"{found[name, m][key]:.3f}" for key in SCORES) for m in shown)]
        for name in names
    ]
    columns = (METHODS[method] for method in shown)
    return table(["accuracy / AUC / log loss", *columns], lines)


def ensembles_multiclass(figures: Figures) -> str:
    """Return the table of accuracy with more than two classes, at epsilon 1."""
    found = {(r["dataset"], r["method"]): r for r in figures if r["epsilon"] == 1}
    names = list(dict.fromkeys(name for name, _ in found))
    shown = [method for method in METHODS if (names[0], method) in found]
    lines = [
        [
            SHORT_NAMES.get(name, name),
            *(
                f"{found[name, m]['accuracy']:.3f} ± {found[name, m]['accuracy_error']:.3f}"
                for m in shown
            ),
        ]
        for name in names
    ]
    return table(["accuracy", *(METHODS[method] for method in shown)], lines)


def ensembles_wide_ranges(figures: Figures) -> str:
    """Return the table of mean AUC for tight and for generous ranges."""
    titles = {0.0: RANGES["1"], 10.0: RANGES["10"]}
    kinds = list(dict.fromkeys((row["method"], row["epsilon"]) for row in figures))
    lines = [
        [
            title,
            *(
                " / ".join(
                    f"{mean(r[key] for r in figures if (*kind, widen) == _kind(r)):.3f}"
                    for key in SCORES[:2]
                )
                for kind in kinds
            ),
        ]
        for widen, title in titles.items()
    ]
    columns = [f"{METHODS[method]}, epsilon {epsilon:g}" for method, epsilon in kinds]
    return table(["declared range of every number: accuracy / AUC", *columns], lines)


def _kind(row: dict[str, Any]) -> tuple[str, float, float]:
    return row["method"], row["epsilon"], row["widen"]


def ensembles_curves(figures: Figures) -> str:
    """Return the table of curves of which the truth is known: a row for each curve."""
    n = figures[0]["seeds"]
    n_found = figures[0]["seeds_with_the_four_strongest"]
    lines = []
    for row in figures:
        cells = [f"{row['right']:.1%}", f"{row['right_worst']:.1%}", f"{row['enough']} of {n}"]
        if row["curve"] == "noise":
            lines.append(
                ["three features of noise", f"{row['strength']:.2f}", "0", *cells, *3 * [""]]
            )
            continue
        cells += [f"{row[key]:.1%}" for key in ("near", "in_band", "half_band")]
        name = " and ".join(f"`{name}`" for name in row["curve"].split())
        strengths = [f"{row[key]:.2f}" for key in ("strength", "true_strength")]
        lines.append([f"{name}: {row['what']}", *strengths, *cells])
    found = f"the true terms are the four strongest of {n_found} ensembles of {n}"
    shares = ["right, mean", "right, worst", "right on 90% or more", "within 15%", "in the band"]
    columns = ["strength", "true strength", *shares, "half width of the band"]
    return table([found, *columns], lines)


def ensembles_speed(figures: Figures) -> str:
    """Return the table of training times of ensembles: a row for each learner."""
    ours = next(row["fit_seconds"] for row in figures if row["learner"] == "privaboost")
    titles = {"privaboost": "**`PrivaBoostClassifier`**, depth 2"}
    return table(
        ["learner", "fit, seconds", "ratio to ours"],
        (
            [
                titles.get(row["learner"], row["learner"]),
                f"{row['fit_seconds']:.2f}",
                f"{row['fit_seconds'] / ours:.2f}",
            ]
            for row in figures
        ),
    )


# --- numbers as targets -------------------------------------------------------------------------

REGRESSORS = {
    "tree": "**`PrivaTreeRegressor`**, delta 0",
    "ensemble": "**`PrivaBoostRegressor`**, delta 1e-6",
    "dp-ebm": "DP-EBM, delta 1e-6",
    "linear": "diffprivlib, linear regression",
    "not-private": "scikit-learn, not private",
}
OURS, WORST_R2 = ("tree", "ensemble"), -1.0


def regression(figures: Figures) -> str:
    """Return the table of mean R2 over all datasets: a row for each method."""
    found = _r2_by_dataset(figures)
    epsilons = list(dict.fromkeys(row["epsilon"] for row in figures if row["epsilon"]))
    lines = []
    for method, title in REGRESSORS.items():
        cells = []
        for epsilon in epsilons:
            mine, ebm = found[method, epsilon], found["dp-ebm", epsilon]
            ahead = f" ({sum(mine[name] > ebm[name] for name in mine)} of {len(mine)})"
            cells.append(f"{_mean_r2(mine.values())}{ahead * (method in OURS)}")
        lines.append([title, *cells])
    columns = [f"epsilon {epsilon:g}" for epsilon in epsilons]
    return table(["mean R2 (datasets ahead of DP-EBM)", *columns], lines)


def regression_by_dataset(figures: Figures) -> str:
    """Return the table of R2 at epsilon 1: a row for each dataset."""
    found = {(r["dataset"], r["method"]): r for r in figures if r["epsilon"] in (1, None)}
    names = list(dict.fromkeys(name for name, _ in found))
    lines = [[name, *(_r2_with_error(found[name, m]) for m in REGRESSORS)] for name in names]
    return table(["R2", *REGRESSORS.values()], lines)


def regression_wide_ranges(figures: Figures) -> str:
    """Return the table of mean R2 for round ranges of the target and for ranges that are wider.

    The means are over the datasets that were measured with every range.
    """
    widths = list(dict.fromkeys(row["widen"] for row in figures))
    found = {widen: _r2_by_dataset([r for r in figures if r["widen"] == widen]) for widen in widths}
    kinds = [
        (method, epsilon)
        for method in REGRESSORS
        for epsilon in dict.fromkeys(row["epsilon"] for row in figures)
        if all((method, epsilon) in found[widen] for widen in widths)
    ]
    lines = []
    for method, epsilon in kinds:
        of_range = [found[widen][method, epsilon] for widen in widths]
        names = set.intersection(*map(set, of_range))
        means = [_mean_r2(each[name] for name in names) for each in of_range]
        lines.append([f"{REGRESSORS[method]}, epsilon {epsilon:g}", *means])
    columns = ["a round range" if widen == 1 else f"{widen:g} times as wide" for widen in widths]
    return table(["mean R2", *columns], lines)


def _r2_by_dataset(figures: Figures) -> dict[tuple[str, float], dict[str, float]]:
    """Return the R2 of each dataset, for each method and epsilon.

    A method without privacy has the same for every epsilon.
    """
    epsilons = {row["epsilon"] for row in figures if row["epsilon"]}
    found: dict[tuple[str, float], dict[str, float]] = {}
    for row in figures:
        for epsilon in epsilons if row["epsilon"] is None else [row["epsilon"]]:
            found.setdefault((row["method"], epsilon), {})[row["dataset"]] = row["r2"]
    return found


def _mean_r2(values: Iterable[float]) -> str:
    """Return a mean in which no dataset counts as less than a fixed number."""
    return f"{mean(max(value, WORST_R2) for value in values):.3f}"


def _r2_with_error(row: dict[str, Any]) -> str:
    if row["r2"] < WORST_R2:
        return f"below {WORST_R2:g}"
    return f"{row['r2']:.3f} ± {row['standard_error']:.3f}"


# --- speed --------------------------------------------------------------------------------------

LEARNERS = {
    "privatree": "`PrivaTreeClassifier`",
    "LightGBM, one tree": "LightGBM, one tree of 16 leaves, 32 bins",
    "scikit-learn": "scikit-learn `DecisionTreeClassifier(max_depth=4)`",
    "scikit-learn DecisionTreeClassifier": "scikit-learn `DecisionTreeClassifier(max_depth=4)`",
    "PaperPrivaTreeClassifier": "`PaperPrivaTreeClassifier`",
    "PaperPrivaTreeClassifier, exact quantiles": '`PaperPrivaTreeClassifier(quantiles="exact")`',
}


def _learner(name: str) -> str:
    is_random_tree = name.startswith("diffprivlib")
    return f"{name}, its random tree" if is_random_tree else LEARNERS[name]


def training(figures: Figures) -> str:
    """Return the table of training times: a row for each learner, the fastest first."""
    return table(
        ["learner", "fit, seconds", "ratio to privatree", "predict, seconds", "ratio"],
        (
            [
                _learner(row["learner"]),
                f"{row['fit_seconds']:.3g}",
                f"{row['fit_ratio']:.2g}",
                f"{row['predict_seconds']:.3g}",
                f"{row['predict_ratio']:.2g}",
            ]
            for row in sorted(figures, key=lambda row: row["fit_seconds"])
        ),
    )


def paper_tree(figures: Figures) -> str:
    """Return the table of the paper's tree: a row for each learner, scikit-learn's first."""
    return table(
        ["learner", "seconds", "ratio to scikit-learn"],
        (
            [
                _learner(row["learner"]),
                f"{row['seconds']:.2f}",
                "1" if row["ratio"] == 1 else f"{row['ratio']:.2f}",
            ]
            for row in figures
        ),
    )


def prediction(figures: Figures) -> str:
    """Return the table of prediction times: a row for each tree."""
    return table(
        ["tree", "scikit-learn", "privatree", "scikit-learn / privatree"],
        (
            [
                f"depth {row['depth']}, {row['leaves']} leaves",
                f"{row['scikit_learn_ms']:.1f} ms",
                f"{row['privatree_ms']:.1f} ms",
                f"{row['ratio']:.1f}",
            ]
            for row in figures
        ),
    )


def latency(figures: Figures) -> str:
    """Return the table of waiting times: import, first fit and refit."""
    found = {row["what"]: row for row in figures}

    def seconds(what: str) -> str:
        return f"{found[what]['seconds']:.2g}"

    first = found["first fit of Adult, nothing compiled"]["seconds"]
    return table(
        ["what", "seconds"],
        [
            ["`import privatree`", seconds("import privatree")],
            [
                "import of the estimator, which loads scikit-learn",
                f"{seconds('import of the estimator')} (`import sklearn.tree` alone: "
                f"{seconds('import sklearn.tree')})",
            ],
            ["first fit of Adult in a new environment, all kernels compiled", f"{first:.1f}"],
            ["the same once compiled, in a new process", seconds("the same in another process")],
            [
                "refit of `vote` (232 records)",
                f"{seconds('refit of vote')}, which is {found['refit of vote']['ratio']:.1f} times "
                "scikit-learn's",
            ],
        ],
    )


# --- scale --------------------------------------------------------------------------------------


def one_machine(figures: Figures) -> str:
    """Return the table of training on one machine: a row for each size."""
    return table(
        ["rows", "size", "scan", "fastest scan", "passes", "pass / scan", "pass / fastest",
         "training", "peak"],
        (
            [
                f"{row['rows']:,}",
                f"{row['gigabytes']:.2f} GB",
                f"{row['scan_seconds']:.2f} s",
                f"{row['fastest_scan_seconds']:.2f} s",
                f"{', '.join(f'{second:.2f}' for second in row['pass_seconds'])} s",
                f"{row['pass_to_scan']:.2f}",
                f"{row['pass_to_fastest_scan']:.2f}",
                f"{row['seconds']:.1f} s",
                f"{row['peak_mebibytes']:.0f} MiB",
            ]
            for row in figures
            if "scan_seconds" in row
        ),
    )  # fmt: skip


TRAININGS = {
    "first": "first training of the session",
    "again": "the next",
    "a worker killed in pass 2": (
        "a worker killed (SIGKILL, with its executor) in the second pass"
    ),
}


def spark(figures: Figures) -> str:
    """Return the table of Spark: a row for each training on the cluster."""
    chosen = [row for row in figures if row.get("engine") == "spark"]
    return table(
        [f"{chosen[0]['rows']:,} rows", "seconds of the passes", "tree"],
        (
            [
                TRAININGS[row["training"]],
                ", ".join(f"{second:.1f}" for second in row["pass_seconds"]),
                "the streamed one" if row["same_tree"] else "ANOTHER",
            ]
            for row in chosen
        ),
    )


# --- pages --------------------------------------------------------------------------------------

TABLES: dict[str, tuple[str, Callable[[Figures], str]]] = {
    "accuracy": ("accuracy-depth-*.json", accuracy),
    "accuracy-wide-ranges": ("accuracy-widen-*.json", wide_ranges),
    "accuracy-multiclass": ("accuracy-multiclass.json", multiclass),
    "leaves": ("leaves-generous-ranges.json", leaves),
    "leaves-rare-class": ("leaves-rare-class.json", leaves),
    "ensembles": ("ensembles-sets.json", ensembles),
    "ensembles-by-dataset": ("ensembles-sets.json", ensembles_by_dataset),
    "ensembles-single": ("ensembles-[ar]*.json", ensembles_single),
    "ensembles-multiclass": ("ensembles-multiclass.json", ensembles_multiclass),
    "ensembles-wide-ranges": ("ensembles-widen-*.json", ensembles_wide_ranges),
    "ensembles-curves": ("ensembles-curves.json", ensembles_curves),
    "ensembles-speed": ("ensembles-speed.json", ensembles_speed),
    "persons": ("persons-panel.json", persons),
    "score-coverage": ("score-coverage.json", score_coverage),
    "regression": ("regression-sets.json", regression),
    "regression-by-dataset": ("regression-sets.json", regression_by_dataset),
    "regression-wide-ranges": ("regression-*.json", regression_wide_ranges),
    "speed-training": ("speed-training.json", training),
    "speed-paper-tree": ("speed-paper-tree.json", paper_tree),
    "speed-prediction": ("speed-prediction.json", prediction),
    "speed-latency": ("speed-latency.json", latency),
    "scale-one-machine": ("scale-*.json", one_machine),
    "scale-spark": ("scale-*.json", spark),
}
"""The name of each table to its files and to what renders them."""


def rendered(name: str, results: Path = RESULTS) -> str:
    """Return a table and the line below it."""
    pattern, render = TABLES[name]
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(results.glob(pattern))]
    figures = [row for result in found for row in result["figures"]]
    machines = dict.fromkeys(_machine(result["machine"]) for result in found)
    return f"{render(figures)}\n*Figures: `benchmarks/results/{pattern}`; {', '.join(machines)}.*\n"


def _machine(machine: dict[str, Any] | str) -> str:
    if isinstance(machine, str):
        return f"machine {machine}"
    return f"{machine['cores']} cores, processor {machine['cpu']}"


def refreshed(page: str, results: Path = RESULTS) -> str:
    """Return the text of a page with refreshed tables."""

    def put(place: re.Match[str]) -> str:
        return f"{place['start']}\n{rendered(place['name'], results)}\n{place['end']}"

    return _PLACE.sub(put, page)


def main() -> None:
    for path in PAGES:
        before = path.read_text(encoding="utf-8")
        after = refreshed(before)
        path.write_text(after, encoding="utf-8")
        print(f"{path.name}: {'changed' if after != before else 'as it was'}")


if __name__ == "__main__":
    main()
