"""Options of ``fit`` that hold records out of the training, for private scores of the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from privatree.errors import ParameterError

Holdout = Annotated[
    str | None,
    typer.Option(
        metavar="SHARE",
        show_default=False,
        help="Share of the records to hold out, such as 20% or 0.2. The model is trained on the "
        "others and scored with these, privately. Each record (with a unit: each unit) is dealt by "
        "itself, so model and scores together cost the larger of their epsilons, not the sum.",
    ),
]
ScoreEpsilon = Annotated[
    float | None,
    typer.Option(
        metavar="E",
        show_default=False,
        help="Epsilon of the scores, with --holdout; by default the same as --epsilon.",
    ),
]


def holdout_parameters(holdout: str | None, score_epsilon: float | None) -> dict[str, Any]:
    """Return the parameters of ``fit`` for a held-out part; none if nothing is held out."""
    if holdout is None and score_epsilon is not None:
        raise ParameterError(
            "--score-epsilon must be used with --holdout, the share of the records that the model "
            "is scored with. Pass --holdout 20%, say."
        )
    if holdout is None:
        return {}
    return {"holdout": _parse_share(holdout), "score_epsilon": score_epsilon}


def check_holdout(held_out: Mapping[str, Any], epsilon: float) -> None:
    """Raise a ParameterError, before any record is read, if the parameters are wrong."""
    from privatree.estimators.holdout import HeldOut

    HeldOut.from_parameters(held_out.get("holdout"), held_out.get("score_epsilon"), epsilon)


def _parse_share(given: str) -> float:
    text = given.strip()
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        raise ParameterError(
            f"--holdout must be a share such as 20% or 0.2, got {given!r}."
        ) from None
