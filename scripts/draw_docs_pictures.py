"""Draw the pictures of the documentation that come from the code: docs/images/*.svg.

All data are public and bundled, here or with scikit-learn, or made up here. Exact scores and counts
of a private table would be secret; of these tables they may be shown. Running it again with the
same matplotlib writes the same bytes.

Usage: ``python scripts/draw_docs_pictures.py [NAME ...]``
"""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from sklearn.datasets import load_breast_cancer

from privatree import (
    Numeric,
    PaperPrivaTreeClassifier,
    PrivaBoostClassifier,
    PrivaTreeClassifier,
    datasets,
)
from privatree._support.atomic_files import replace_file
from privatree._support.plot_style import BLUE, GREEN, GREY, ORANGE, VERMILION, tint
from privatree.counting._candidates import cut_points
from privatree.evaluation import private_scores
from privatree.export import (
    PathSpend,
    plot_budget,
    plot_calibration,
    plot_scores,
    plot_term,
    plot_terms,
    plot_tree,
)
from privatree.export._budget_path import costliest_path_spends
from privatree.model.ensemble import Step
from privatree.robustness import accuracy_certificate

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images"
RESULTS = FOLDER.parents[1] / "benchmarks" / "results"
LOOK = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.fonttype": "none",  # letters stay letters: found by a search, read aloud
    "svg.hashsalt": "privatree",
}
COUNT, CHOICE, LAST = ORANGE, BLUE, GREEN  # the colours of how-it-works.svg


def figure(width: float, height: float) -> Figure:
    drawn = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(drawn)
    return drawn


def trained(name: str, **parameters: object) -> PrivaTreeClassifier:
    frame, labels, schema = datasets.load(name)
    return PrivaTreeClassifier(schema=schema, random_state=0, **parameters).fit(frame, labels)


def scores() -> Figure:
    """Draw the scores of the guide, and the calibration."""
    frame, labels, schema = datasets.load("adult")
    learner = PrivaTreeClassifier(0.1, max_depth=4, schema=schema, random_state=0)
    model = learner.fit(frame[::2], labels[::2]).model_
    found = private_scores(model, frame[1::2], labels[1::2], epsilon=0.1, random_state=0)
    drawn = figure(10.5, 3.7)
    left, right = drawn.subplots(1, 2, width_ratios=(1.1, 1))
    plot_scores(found, left)
    plot_calibration(found, right)
    return drawn


# --- the tree, its budget, a certificate --------------------------------------------------------


def tree() -> Figure:
    return plot_tree(trained("adult", epsilon=0.1, max_depth=3)).figure


def budget() -> Figure:
    return plot_budget(trained("adult", epsilon=0.1, max_depth=4)).figure


def certificate() -> Figure:
    frame, labels, schema = datasets.load("mushroom")
    train, test = frame.index % 5 != 0, frame.index % 5 == 0
    learner = PrivaTreeClassifier(0.1, schema=schema, schedule="robust", random_state=0)
    certified = accuracy_certificate(
        learner, frame[train], labels[train], frame[test], labels[test],
        poisoned=[10, "0.5%"], refits=100,
    )  # fmt: skip
    axes = certified.plot()
    axes.set_title("Mushroom, epsilon 0.1, schedule='robust'")
    return axes.figure


# --- where a split may cut ----------------------------------------------------------------------


def cut_points_picture() -> Figure:
    values = np.random.default_rng(0).lognormal(2.6, 0.9, 4000)
    values = values[values <= 100]
    drawn = figure(8.4, 4.6)
    whole, histogram, *rows = drawn.subplots(
        5, 1, gridspec_kw={"height_ratios": [1.1, 2.2, 1, 1, 1]}
    )
    cuts, _ = cut_points(Numeric(0, 1000), 256)
    rug(whole, cuts, CHOICE)
    whole.axvspan(0, 100, color=tint(ORANGE, 0.35), zorder=0)
    whole.set_xlim(-5, 1005)
    whole.set_title(
        f"A number declared 0 to 1,000, with values up to 100: its {len(cuts)} public cut points",
        loc="left",
    )
    histogram.hist(values, bins=100, range=(0, 100), color=tint(ORANGE, 0.6))
    histogram.set_yticks([])
    histogram.spines["left"].set_visible(False)
    histogram.set_title("Where its values are (made up here; no cut point depends on them)",
                        loc="left")  # fmt: skip
    for axes, (low, high) in zip(rows, [(0, 100), (0, 1000), (-1000, 1000)], strict=True):
        cuts, masses = cut_points(Numeric(low, high), 256)
        inside = (cuts >= 0) & (cuts <= 100)
        rug(axes, cuts[inside], CHOICE)
        share = masses[inside].sum() / masses.sum()
        axes.text(
            1.01, 0.5, f"{inside.sum()} cut points\n{share:.0%} of the mass",
            transform=axes.transAxes, va="center", fontsize=9,
        )  # fmt: skip
        axes.text(-0.01, 0.5, f"declared\n{low:,} to {high:,}", transform=axes.transAxes,
                  ha="right", va="center", fontsize=9)  # fmt: skip
        axes.set_xlim(-0.5, 100.5)
        axes.tick_params(labelbottom=axes is rows[-1])
    histogram.set_xlim(-0.5, 100.5)
    histogram.tick_params(labelbottom=False)
    return drawn


def rug(axes: Axes, cuts: np.ndarray, colour: str) -> None:
    places = np.repeat(cuts, 3).round(3)  # one line with gaps: a small file
    axes.plot(places, np.tile([0, 1, np.nan], len(cuts)), color=colour, linewidth=0.7)
    axes.set_ylim(-0.1, 1.1)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)


# --- an ensemble --------------------------------------------------------------------------------


def boosting() -> Figure:
    """Draw some rounds of an ensemble of single features, and their sum for one feature."""
    frame, labels, schema = datasets.load("adult")
    model = PrivaBoostClassifier(1.0, max_depth=1, schema=schema, random_state=0)
    ensemble = model.fit(frame, labels).ensemble_
    age = schema.names.index("age")
    turns = [
        turn for turn, one in enumerate(ensemble.rounds)
        if isinstance(one.function, Step) and one.function.feature == age
    ]  # fmt: skip
    values = np.arange(17, 91)
    steps = [ensemble.rounds[turn].function for turn in turns]
    signs = np.array([[step.sign_of(value) for value in values] for step in steps])
    drawn = figure(8.4, 4.2)
    grid = drawn.add_gridspec(3, 2, width_ratios=[1, 1.25])
    for row in range(3):
        axes = drawn.add_subplot(grid[row, 0])
        axes.step(values, signs[row], where="mid", color=CHOICE)
        axes.set_yticks([-1, 1], ["-1", "+1"])
        axes.set_ylim(-1.5, 1.5)
        axes.set_title(f"round {turns[row] + 1} draws a function of age", loc="left", fontsize=10)
        axes.tick_params(labelbottom=row == 2)
    axes.set_xlabel("age")
    total = drawn.add_subplot(grid[:, 1])
    effect = ensemble.step * signs.sum(axis=0)
    total.axhline(0, color=GREY, linewidth=0.8)
    total.step(values, effect, where="mid", color=LAST, linewidth=2)
    total.set_title(
        f"the sum of all {len(turns)} rounds with age: its effect on the log-odds",
        loc="left", fontsize=10,
    )  # fmt: skip
    total.set_xlabel("age")
    return drawn


def on_adult() -> PrivaBoostClassifier:
    frame, labels, schema = datasets.load("adult")
    return PrivaBoostClassifier(1.0, schema=schema, random_state=0).fit(frame, labels)


def terms() -> Figure:
    return plot_terms(on_adult(), max_terms=9)


def term() -> Figure:
    """Draw a term of one feature large, and one of two features beside it."""
    model = on_adult()
    drawn = figure(9.6, 3.6)
    left, right = drawn.subplots(1, 2, width_ratios=[1, 1.2])
    plot_term(model, "education-num", ax=left)
    plot_term(model, "education-num", "marital-status", ax=right)
    return drawn


def boosting_auc() -> Figure:
    """Draw mean AUC by epsilon for each method, from the results of the benchmark."""
    figures = json.loads((RESULTS / "ensembles-sets.json").read_text(encoding="utf-8"))["figures"]
    drawn = figure(8.4, 4.0)
    titles = {
        "privaboost": ("PrivaBoostClassifier, delta 1e-6", BLUE, "-"),
        "privaboost-pure": ("PrivaBoostClassifier, delta 0", BLUE, "--"),
        "privatree": ("PrivaTreeClassifier, delta 0", GREEN, "--"),
        "dp-ebm": ("DP-EBM, delta 1e-6", ORANGE, "-"),
        "lightgbm": ("LightGBM, not private", GREY, ":"),
    }
    epsilons = sorted({row["epsilon"] for row in figures})
    for axes, key, name in zip(drawn.subplots(1, 2), ("auc", "accuracy"), ("AUC", "accuracy"),
                               strict=True):  # fmt: skip
        for method, (title, colour, line) in titles.items():
            means = [
                np.mean([r[key] for r in figures if (r["method"], r["epsilon"]) == (method, e)])
                for e in epsilons
            ]
            axes.plot(epsilons, means, line, color=colour, marker="o", label=title)
        axes.set_xscale("log")
        axes.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
        axes.minorticks_off()
        axes.set_xlabel("epsilon")
        axes.set_title(f"mean {name} of twelve datasets", loc="left", fontsize=10)
    lines, names = axes.get_legend_handles_labels()
    drawn.legend(lines, names, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return drawn


# --- one draw -----------------------------------------------------------------------------------


def drawing() -> Figure:
    """Draw the candidates of one level and one feature: a cut point, and a label on each side."""
    tumours = load_breast_cancer(as_frame=True)  # not the one that we bundle: whole numbers 1 to 10
    perimeter = tumours.data["mean perimeter"].to_numpy()
    malignant = (tumours.target == list(tumours.target_names).index("malignant")).to_numpy()
    cuts, masses = cut_points(Numeric(0, 200, integer=True), 256)
    right = perimeter[:, None] > cuts
    usual = (right == malignant[:, None]).sum(axis=0)
    scores = np.stack([usual, len(perimeter) - usual])  # malignant above the cut, or below it
    drawn = figure(8.4, 5.6)
    top, *rows = drawn.subplots(4, 1, sharex=True, gridspec_kw={"height_ratios": [1.7, 1, 1, 1]})
    names = ("malignant above the cut", "malignant below the cut")
    for score, name, colour in zip(scores, names, (BLUE, ORANGE), strict=True):
        top.plot(cuts, score, color=colour, linewidth=2, label=name)
    top.set_ylabel("records right")
    top.set_title("Score of each candidate: tumours by perimeter, 569 records (public data)",
                  loc="left")  # fmt: skip
    top.legend(loc="upper right", frameon=False)
    best = cuts[int(np.argmax(scores[0]))]
    top.annotate(f"best: {scores.max()} right", (best, scores.max()), xytext=(0, 4),
                 textcoords="offset points", ha="center", va="bottom")  # fmt: skip
    top.set_ylim(0, 600)
    for axes, epsilon in zip(rows, (0.01, 0.1, 1.0), strict=True):
        weights = masses * np.exp(epsilon * (scores - scores.max()))
        chances = weights / weights.sum()
        for chance, colour in zip(chances, (BLUE, ORANGE), strict=True):
            if chance.max() > 0.01 * chances.max():
                edges = np.append(cuts - 0.5, cuts[-1] + 0.5)
                axes.stairs(chance, edges, fill=True, facecolor=tint(colour, 0.45),
                            edgecolor=colour)  # fmt: skip
        near = chances[scores >= scores.max() - 0.02 * len(perimeter)].sum()
        axes.text(
            0.01, 0.93, f"epsilon {epsilon:g}: within 2% of the best with probability {near:.0%}",
            transform=axes.transAxes, va="top",
        )  # fmt: skip
        axes.set_ylim(0, 1.35 * chances.max())
        axes.set_yticks([0, chances.max()], ["0", f"{chances.max():.2g}"])
    rows[1].set_ylabel("probability of being drawn")
    rows[-1].set_xlabel("cut point (mean perimeter, declared 0 to 200)")
    rows[-1].set_xlim(0, 200)
    return drawn


# --- the budget along a path --------------------------------------------------------------------


def spending() -> Figure:
    models = {
        "accuracy, 3 levels": trained("adult", epsilon=0.1, max_depth=3),
        "accuracy, 4 levels": trained("adult", epsilon=0.1, max_depth=4),
        "robust, 3 levels": trained("adult", epsilon=0.1, schedule="robust"),
    }
    drawn = figure(8.4, 3.4)
    axes = drawn.subplots()
    for place, model in enumerate(models.values()):
        stack(axes, place, costliest_path_spends(model.tree_, model.privacy_))
    axes.set_yticks(range(len(models)), models)
    axes.set_ylim(len(models) - 0.4, -0.75)
    axes.set_xlim(0, 0.1)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("epsilon, added up along a path of the tree")
    axes.set_title("What a record of Adult pays, at epsilon 0.1", loc="left", pad=24)
    names = {"noisy counts": COUNT, "one split": CHOICE, "last levels with their labels": LAST}
    handles = [axes.barh(0, 0, color=colour) for colour in names.values()]
    axes.legend(handles, names, loc="lower right", bbox_to_anchor=(1.0, 0.985), ncols=3,
                frameon=False, borderaxespad=0)  # fmt: skip
    return drawn


def stack(axes: Axes, place: float, spends: tuple[PathSpend, ...]) -> None:
    begin, total, above = 0.0, sum(spend.epsilon for spend in spends), False
    for spend in spends:
        colour = COUNT if spend.mechanism == "geometric" else CHOICE
        colour = LAST if "last" in spend.purpose else colour
        axes.barh(place, spend.epsilon, left=begin, height=0.5, color=tint(colour, 0.75),
                  edgecolor="white", linewidth=1.2)  # fmt: skip
        share = spend.epsilon / total
        above = share < 0.05 and not above
        up = 0 if share >= 0.05 else 1 if above else -1  # beside a small bar, in turns
        axes.annotate(
            f"{share:.0%}", (begin + spend.epsilon / 2, place - 0.25 * up),
            xytext=(0, 2 * up), textcoords="offset points", ha="center",
            va=("center", "bottom", "top")[up], fontsize=8 if up else 10,
        )  # fmt: skip
        begin += spend.epsilon


# --- where a record is counted ------------------------------------------------------------------


def paper_costs() -> Figure:
    frame, labels, schema = datasets.load("adult")
    paper = PaperPrivaTreeClassifier(
        0.1, max_depth=3, schema=schema, stop_when_pure=False, random_state=0
    ).fit(frame, labels)
    ours = trained("adult", epsilon=0.1, max_depth=3)
    drawn = figure(8.4, 5.6)
    upper, lower = drawn.subfigures(2, 1, height_ratios=[2.6, 1.6])
    left, right = upper.subfigures(1, 2, wspace=0.06)
    n_features = len(schema.features)
    left.suptitle(f"Algorithm 1 releases a noisy histogram\nof each of {n_features} features, "
                  "at every node", fontsize=11)  # fmt: skip
    record, shown = frame.iloc[0], ("age", "education-num", "hours-per-week", "sex")
    for axes, name in zip(left.subplots(2, 2).flat, shown, strict=True):
        mini_histogram(axes, frame[name].to_numpy(), record[name], name)
    left.supxlabel("one record (dark) is in every one of them: costs add up", fontsize=9.5)
    right.suptitle("Ours releases one choice among\nall cuts of all features", fontsize=11)
    candidates(right.subplots())
    right.supxlabel("one draw, one cost, however many features", fontsize=9.5)
    axes = lower.subplots()
    totals = []
    for place, model in enumerate((paper, ours)):
        spends = costliest_path_spends(model.tree_, model.privacy_)
        begin = 0.0
        for spend in spends:
            each = spend.epsilon / spend.releases
            for _ in range(spend.releases):
                axes.barh(place, each, left=begin, height=0.55, color=tint(BLUE, 0.6),
                          edgecolor="white", linewidth=0.6)  # fmt: skip
                begin += each
        totals.append(begin)
        axes.text(begin + 0.01, place, f"{begin:.3g}", va="center")
    axes.axvline(0.1, color=VERMILION, linestyle="--", linewidth=1.2)
    axes.annotate("epsilon that was asked for, and claimed: 0.1", (0.1, -0.6), xytext=(4, 0),
                  textcoords="offset points", color=VERMILION, va="center")  # fmt: skip
    axes.set_yticks([0, 1], ["Algorithm 1", "ours"])
    axes.set_ylim(1.45, -0.85)
    axes.set_xlim(0, 1.08 * max(totals))
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("what one record of Adult pays, three levels: each piece is a release")
    return drawn


def mini_histogram(axes: Axes, values: np.ndarray, own: object, name: str) -> None:
    if np.issubdtype(values.dtype, np.number):
        counts, edges = np.histogram(values, bins=10)
        place = int(np.clip(np.searchsorted(edges, float(own), side="right") - 1, 0, 9))
    else:
        kinds, counts = np.unique(values.astype(str), return_counts=True)
        place = int(np.flatnonzero(kinds == str(own))[0])
    axes.bar(range(len(counts)), counts, color=tint(BLUE, 0.35), width=0.9)
    height = 0.14 * counts.max()
    axes.bar(place, height, bottom=counts[place], color=BLUE, width=0.9)
    axes.set_ylim(0, 1.3 * counts.max())
    axes.set_title(name, fontsize=9)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)


def candidates(axes: Axes) -> None:
    """Draw the probabilities of many candidates side by side, with the chosen one marked."""
    chances = np.exp(np.random.default_rng(3).uniform(0, 3.2, 60))
    drawn = 40
    chances[drawn] = 1.15 * chances.max()
    colours = [VERMILION if place == drawn else tint(GREY, 0.45) for place in range(len(chances))]
    axes.bar(range(len(chances)), chances, color=colours, width=0.9)
    axes.add_patch(FancyArrowPatch(
        (drawn, 1.28 * chances.max()), (drawn, chances[drawn] + 0.02 * chances.max()),
        arrowstyle="-|>", mutation_scale=14, color=VERMILION))  # fmt: skip
    axes.text(drawn, 1.3 * chances.max(), "drawn", ha="center", va="bottom", color=VERMILION)
    axes.set_ylim(0, 1.45 * chances.max())
    axes.set_xlabel("all candidates of all features (a sketch)", fontsize=9)
    axes.set_ylabel("probability", fontsize=9)
    axes.set_xticks([])
    axes.set_yticks([])


# --- the stages of the package -------------------------------------------------------------------

STAGES = {  # the middle of each box, its colour, and what passes through it
    "schema/": (0, 2.1, GREEN, "what is public"),
    "sources/": (0, 0, ORANGE, "where records live"),
    "tables/": (2.5, 0, ORANGE, "typed columns"),
    "counting/": (5, 0, ORANGE, "bins, exact counts"),
    "learners/": (5, 2.1, BLUE, "which draw comes next"),
    "privacy/": (2.5, 2.1, BLUE, "ledger, then noise"),
    "model/": (7.5, 2.1, GREEN, "tree and statement"),
    "estimators/": (7.5, 0, GREY, "fit and predict"),
    "export/, report/": (10, 2.1, GREEN, "what is published"),
    "robustness/, audit/": (10, 0, GREY, "what can go wrong"),
}
FLOWS = [  # from, to, what is handed over
    ("sources/", "tables/", "batches"),
    ("tables/", "counting/", "columns"),
    ("counting/", "learners/", "exact counts"),
    ("learners/", "privacy/", "scores"),
    ("privacy/", "learners/", "draws"),
    ("learners/", "model/", "nodes"),
    ("model/", "export/, report/", ""),
    ("estimators/", "robustness/, audit/", "is refitted"),
    ("model/", "estimators/", "model_"),
    ("schema/", "sources/", "declares"),
]


def persons() -> Figure:
    """Draw what the records of persons weigh, and what each way to protect persons reaches."""
    drawn = figure(7.6, 3.2)
    left, right = drawn.subplots(1, 2, width_ratios=[1, 1.35])
    visits = {"Ana": 1, "Ben": 2, "Cleo": 5}
    for row, (name, n_visits) in enumerate(visits.items()):
        for visit in range(n_visits):
            colour = (BLUE, ORANGE, GREEN)[row]
            left.barh(-row, 1 / n_visits, 0.6, visit / n_visits, color=tint(colour, 0.55),
                      edgecolor="white", linewidth=2)  # fmt: skip
        said = "1 visit" if n_visits == 1 else f"{n_visits} visits"
        left.text(-0.04, -row, f"{name}\n{said}", ha="right", va="center", fontsize=9)
        left.text(1.04, -row, "1" if n_visits == 1 else f"{n_visits} × 1/{n_visits}", va="center")
    left.set(xlim=(-0.45, 1.5), ylim=(-2.6, 0.6))
    left.set_axis_off()
    left.set_title("every person weighs 1", fontsize=10)
    names = {
        "units": ("units", BLUE),
        "cut": ("4 records kept, ε/4", ORANGE),
        "divided": ("ε/20 a record", VERMILION),
        "not private": ("not private", GREY),
    }
    rows = json.loads((RESULTS / "persons-panel.json").read_text(encoding="utf-8"))["figures"]
    for method, (name, colour) in names.items():
        mine = [row for row in rows if row["method"] == method]
        epsilons = [row["epsilon"] for row in mine]
        if method == "not private":
            level = mine[0]["persons"]
            right.axhline(level, color=colour, linestyle="--", linewidth=1.5, label=name)
        else:
            errors = [2 * row["persons_error"] for row in mine]
            right.errorbar(epsilons, [row["persons"] for row in mine], errors, color=colour,
                           marker="o", markersize=4, capsize=3, label=name)  # fmt: skip
    right.set(xscale="log", xlabel="epsilon for a whole person", ylabel="accuracy")
    right.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
    right.minorticks_off()
    right.legend(frameon=False, loc="lower right", fontsize=9)
    return drawn


def architecture() -> Figure:
    """Draw the stages: records stay in the orange ones, and only draws of a blue one leave them."""
    drawn = figure(11.4, 3.7)
    axes = drawn.subplots()
    for name, (x, y, colour, says) in STAGES.items():
        axes.add_patch(FancyBboxPatch((x - 0.8, y - 0.36), 1.6, 0.72, facecolor=tint(colour, 0.25),
                                      boxstyle="round,pad=0.08", edgecolor=colour))  # fmt: skip
        axes.text(x, y + 0.14, name, ha="center", va="center", weight="bold", fontsize=9)
        axes.text(x, y - 0.2, says, ha="center", va="center", fontsize=8)
    for start, end, says in FLOWS:
        flow(axes, STAGES[start][:2], STAGES[end][:2], says)
    legend = {
        ORANGE: "touches records",
        BLUE: "decides and draws: only privacy/ draws noise",
        GREEN: "public, or released",
        GREY: "around them",
    }
    for place, (colour, says) in enumerate(legend.items()):
        x = (-0.85, 1.2, 5.1, 7.5)[place]
        axes.plot(x, -1.15, "s", color=tint(colour, 0.25), markeredgecolor=colour, markersize=9)
        axes.text(x + 0.18, -1.15, says, va="center", fontsize=8.5)
    axes.set_xlim(-1, 11)
    axes.set_ylim(-1.4, 2.7)
    axes.axis("off")
    return drawn


def flow(axes: Axes, start: tuple[float, float], end: tuple[float, float], says: str) -> None:
    """Draw an arrow from box to box; an arrow back runs a little above the other."""
    (x, y), (u, v) = start, end
    if y == v:
        right = 1 if u > x else -1
        shift = 0.17 * right if {x, u} == {2.5, 5} and y > 0 else 0  # there and back
        tail, head = (x + 0.9 * right, y - shift), (u - 0.9 * right, y - shift)
        place = ((x + u) / 2, y - shift - 0.17 if shift > 0 else y - shift + 0.16)
    else:
        up = 1 if v > y else -1
        tail, head = (x, y + 0.46 * up), (u, v - 0.46 * up)
        place = (x + 0.5, (y + v) / 2)
    axes.add_patch(FancyArrowPatch(tail, head, arrowstyle="-|>", mutation_scale=11, color="0.3",
                                   shrinkA=0, shrinkB=0))  # fmt: skip
    axes.text(*place, says, ha="center", va="center", fontsize=7.5, color="0.25")


PICTURES: dict[str, tuple[str, Callable[[], Figure]]] = {
    "tree": ("A tree of three levels on Adult, epsilon 0.1", tree),
    "budget": ("Where epsilon 0.1 went, along one path", budget),
    "certificate": ("Certified accuracy against the number of poisoned records", certificate),
    "cut-points": ("Public cut points for a tight and for loose ranges", cut_points_picture),
    "drawing": ("Scores of candidates, and how likely each is drawn", drawing),
    "spending": ("Shares of epsilon along a path, for two schedules", spending),
    "paper-costs": ("Where a record is counted, and what it pays", paper_costs),
    "boosting": ("Functions of some rounds, and their sum", boosting),
    "boosting-auc": ("AUC and accuracy by epsilon, for five methods", boosting_auc),
    "terms": ("The nine strongest terms of an ensemble on Adult, epsilon 1", terms),
    "term": ("A term of one feature, and one of two", term),
    "scores": ("Private scores with their intervals, and a calibration curve", scores),
    "persons": ("How the records of a person weigh, and what that is worth", persons),
    "architecture": ("The stages that records and releases pass through", architecture),
}


def main() -> None:
    for name in sys.argv[1:] or PICTURES:
        title, draw = PICTURES[name]
        content = io.BytesIO()
        with style.context(["default", LOOK]):
            metadata = {"Title": title, "Date": None, "Creator": None}
            draw().savefig(content, format="svg", metadata=metadata)
        print(replace_file(FOLDER / f"{name}.svg", content.getvalue()), len(content.getvalue()))


if __name__ == "__main__":
    main()
