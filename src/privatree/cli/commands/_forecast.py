"""``privatree forecast``: what privacy will probably cost, before anything is spent."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from privatree._support.kernels.compile_notice import compile_notice
from privatree.cli._learner_options import name_learner_options
from privatree.cli._output import check_output, output_option, print_json, print_text
from privatree.errors import ParameterError

_PICTURES = (".png", ".svg")
_OPTIONS = ("records", "epsilon", "classes", "features", "majority_share", "seed", "without")


def forecast(
    records: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="About how many training records you have, 100 to 100,000: persons, if epsilon is "
            "for persons, and without those held out. It must be public knowledge: do not count "
            "them.",
        ),
    ],
    epsilon: Annotated[
        str,
        typer.Option(metavar="E,F,...", help="Privacy budgets to compare, such as 0.05,0.5,1."),
    ],
    classes: Annotated[int, typer.Option(metavar="K", help="Number of classes.")] = 2,
    features: Annotated[
        int | None,
        typer.Option(
            metavar="M",
            show_default=False,
            help="Number of features. Without it, made-up tables have 6 to 20.",
        ),
    ] = None,
    majority_share: Annotated[
        float | None,
        typer.Option(
            metavar="S",
            show_default=False,
            help="Share of the most frequent class, such as 0.75, if it is public knowledge. "
            "Without it, made-up tables have from equal classes to 0.85. What privacy costs in AUC "
            "depends much on it.",
        ),
    ] = None,
    model: Annotated[
        Literal["tree", "boost"],
        typer.Option(
            help="tree: one tree, beside scikit-learn's tree of the same depth. boost: an "
            "ensemble, beside scikit-learn's boosted trees."
        ),
    ] = "tree",
    without: Annotated[
        str | None,
        typer.Option(metavar="A,B,...", show_default=False, help="Bundled datasets to leave out."),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(metavar="N", help="Seed. Everybody who gives the same gets the same table."),
    ] = 0,
    jobs: Annotated[
        int,
        typer.Option(
            metavar="N",
            show_default="2, or 1 on a machine with one processor",
            help="Number of processes, 1 or 2. The result does not depend on it.",
        ),
    ] = min(2, os.cpu_count() or 1),
    output: Annotated[
        Path | None, output_option("Also draw the forecast, as a .png or .svg file.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the forecast as JSON, and nothing else.")
    ] = False,
) -> None:
    """Forecast what privacy will cost in accuracy and AUC, before anything is spent.

    The command reads nothing of yours and costs no epsilon. It trains with and without privacy on
    other data: on the bundled public datasets, thinned to N records, and on made-up tables of N
    records. It prints what privacy cost there, on average and on the tables where it cost least and
    most. Your cost can lie anywhere in this range, or even outside: it is a guide.

    The first call takes up to a minute. The result is kept in the cache folder of privatree, so the
    same call takes a second after that.

    Example: privatree forecast --records 8000 --epsilon 0.05,0.5,1 -o forecast.png
    """
    from privatree.forecast import forecast as make_forecast

    if output is not None:
        _check_picture(output)
    with name_learner_options(_OPTIONS), compile_notice(True):
        made = make_forecast(
            records,
            _parse_epsilons(epsilon),
            classes=classes,
            features=features,
            majority_share=majority_share,
            model=model,
            without=() if without is None else without.split(","),
            seed=seed,
            n_jobs=_check_jobs(jobs),
        )
    if output is not None:
        made.save_plot(output)
    if as_json:
        print_json(made.to_dict(), allow_nan=False)
    else:
        print_text(str(made))


def _parse_epsilons(given: str) -> tuple[float, ...]:
    try:
        return tuple(float(epsilon) for epsilon in given.split(","))
    except ValueError:
        raise ParameterError(
            f"--epsilon must be numbers with commas between them, such as 0.05,0.5,1, got "
            f"{given!r}."
        ) from None


def _check_jobs(jobs: int) -> int:
    if jobs not in (1, 2):
        raise ParameterError(f"--jobs must be 1 or 2, got {jobs}.")
    return jobs


def _check_picture(output: Path) -> None:
    """Check, before minutes of training, that the picture can be drawn and written."""
    from importlib.util import find_spec

    from privatree._support.plot_style import missing_matplotlib

    if output.suffix.lower() not in _PICTURES:
        raise ParameterError(f"--output must end in .png or .svg, got {str(output)!r}.")
    check_output(output, [])
    if find_spec("matplotlib") is None:
        raise missing_matplotlib("pictures")
