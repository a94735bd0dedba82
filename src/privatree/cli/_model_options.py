"""The option --model, and the options that only trees or only ensembles have."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

import typer

from privatree.cli._learner_options import parse_number_option
from privatree.errors import ParameterError

_TREES, _ENSEMBLES = "Only with --model tree", "Only with --model boost"

ModelKind = Annotated[
    Literal["tree", "boost"],
    typer.Option(
        help="tree: one decision tree, which is easy to read. boost: an ensemble, the sum of many "
        "small functions. It ranks records better and has better probabilities where there are "
        "many records, and by default it needs a small --delta."
    ),
]
MaxDepth = Annotated[
    str | None,
    typer.Option(
        "--max-depth",
        "--depth",
        metavar="N|none",
        show_default=False,
        help="Largest depth of the tree, by default 4; none chooses it by epsilon and the noisy "
        "number of records. With --model boost: the number of features that a function can look "
        "at, 1, 2 or 3, by default 2.",
    ),
]
Lookahead = Annotated[
    str | None,
    typer.Option(
        metavar="auto|1|2|3",
        show_default=False,
        rich_help_panel=_TREES,
        help="Number of levels that are chosen together. The default is auto.",
    ),
]
Schedule = Annotated[
    Literal["accuracy", "robust"] | None,
    typer.Option(
        show_default=False,
        rich_help_panel=_TREES,
        help="How the levels of the tree share the budget. accuracy, the default, gives the most "
        "accurate tree; robust gives equal shares, for the strongest certificates against poisoned "
        "records.",
    ),
]
RobustLevels = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        show_default=False,
        rich_help_panel=_TREES,
        help="Number of levels of the tree with --schedule robust. The default is 3.",
    ),
]
ProbabilityShare = Annotated[
    str | None,
    typer.Option(
        metavar="S|auto",
        show_default=False,
        rich_help_panel=_TREES,
        help="For classes: share of epsilon, below 1, for noisy class counts of the leaves, which "
        "give the probabilities. auto, the default, is 5%, or 0 where records and epsilon are too "
        "few.",
    ),
]
NoSimplify = Annotated[
    bool,
    typer.Option(
        "--no-simplify",
        rich_help_panel=_TREES,
        help="Keep sides of the tree that hardly any record reaches, and sides that say the "
        "same. Without this option released values decide what is left out.",
    ),
]
Zoom = Annotated[
    bool,
    typer.Option(
        "--zoom",
        rich_help_panel=_TREES,
        help="Spend 3% of epsilon on a private interval of each numeric feature, so that cut "
        "points lie where the records are. Nothing is spent where records and epsilon are too "
        "few.",
    ),
]
Delta = Annotated[
    float | None,
    typer.Option(
        metavar="D",
        show_default=False,
        rich_help_panel=_ENSEMBLES,
        help="Probability with which epsilon may not hold, by default 1e-6. Choose it far below 1 "
        "divided by the number of records. With 0 epsilon holds always, with fewer rounds.",
    ),
]
Rounds = Annotated[
    str | None,
    typer.Option(
        metavar="auto|N",
        show_default=False,
        rich_help_panel=_ENSEMBLES,
        help="Number of functions in the sum, 1 to 1000. auto, the default, follows from the noisy "
        "number of records, epsilon and delta.",
    ),
]
Monotone = Annotated[
    str | None,
    typer.Option(
        metavar="A=1,B=-1",
        show_default=False,
        rich_help_panel=_ENSEMBLES,
        help="Directions of numeric columns, for two classes or a numeric target, such as "
        "age=1,income=-1. 1: a larger number must not lower the probability of the second class, "
        "or the target; -1: must not raise it. Use public knowledge only.",
    ),
]
_NAME_AND_DIRECTION = re.compile(r"(?P<name>.+?)=\s*(?P<direction>[+-]?[01])\s*(?:,|$)")
"""A name may contain equals signs, and commas that do not follow =1, =0 or =-1."""
DEFAULT_DELTA = 1e-6


def tree_parameters(
    max_depth: str | None = None,
    lookahead: str | None = None,
    schedule: str | None = None,
    robust_levels: int | None = None,
    probability_share: str | None = None,
    no_simplify: bool = False,
    zoom: bool = False,
) -> dict[str, Any]:
    """Return the parameters that only PrivaTreeClassifier has, and the depth."""
    return {
        "max_depth": parse_number_option("--max-depth", max_depth or "4", none=None),
        "lookahead": parse_number_option("--lookahead", lookahead or "auto", auto="auto"),
        "schedule": schedule or "accuracy",
        "robust_levels": 3 if robust_levels is None else robust_levels,
        "probability_share": parse_number_option(
            "--probability-share", probability_share or "auto", whole=False, auto="auto"
        ),
        "simplify": not no_simplify,
        "zoom": zoom,
    }


def ensemble_parameters(
    max_depth: str | None = None,
    delta: float | None = None,
    rounds: str | None = None,
    monotone: str | None = None,
) -> dict[str, Any]:
    """Return the parameters that only PrivaBoostClassifier has, and the depth."""
    return {
        "max_depth": parse_number_option("--max-depth", max_depth or "2", none=None),
        "delta": DEFAULT_DELTA if delta is None else delta,
        "rounds": parse_number_option("--rounds", rounds or "auto", auto="auto"),
        "monotonic_cst": None if monotone is None else _parse_monotone(monotone),
    }


def check_options_of_model(model: str, for_tree: dict[str, Any], for_boost: dict[str, Any]) -> None:
    """Raise ParameterError for an option that belongs to the other model.

    None and False mean that an option was not given. A tree accepts --delta 0, which it has.
    """
    wrong, right = (for_tree, "tree") if model == "boost" else (for_boost, "boost")
    given = [name for name, value in wrong.items() if value is not None and value is not False]
    if model == "tree" and for_boost["delta"] == 0:
        given.remove("delta")
    if given:
        why = " The epsilon of a tree holds always: its delta is 0." if "delta" in given[:1] else ""
        option = f"--{given[0].replace('_', '-')}"
        raise ParameterError(f"{option} must be used with --model {right}.{why}")


def learner_class(model: str, *, predicts_number: bool = False) -> Any:
    """Return the classifier that --model names, or the regressor of the same kind."""
    from privatree import (
        PrivaBoostClassifier,
        PrivaBoostRegressor,
        PrivaTreeClassifier,
        PrivaTreeRegressor,
    )

    if predicts_number:
        return PrivaBoostRegressor if model == "boost" else PrivaTreeRegressor
    return PrivaBoostClassifier if model == "boost" else PrivaTreeClassifier


def _parse_monotone(given: str) -> dict[str, int]:
    """Return the direction of each column that ``--monotone`` names."""
    directions: dict[str, int] = {}
    place = 0
    while place < len(given):
        found = _NAME_AND_DIRECTION.match(given, place)
        if found is None or found["name"].strip() in directions:
            directions = {}
            break
        directions[found["name"].strip()] = int(found["direction"])
        place = found.end()
    if not directions:
        raise ParameterError(
            "--monotone must have 1, -1 or 0 for each column, such as age=1,income=-1, got "
            f"{given!r}."
        )
    return directions
