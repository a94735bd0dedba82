"""``privatree demo``: train a model on bundled data and explain it, in a few seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from privatree._support.kernels.compile_notice import compile_notice
from privatree._support.suggestions import did_you_mean
from privatree.cli._learner_options import name_learner_options
from privatree.cli._model_options import learner_class
from privatree.cli._output import (
    check_output,
    ensemble_overview,
    output_option,
    show_spinner,
    write_output,
)
from privatree.errors import ParameterError

_REPORT = Path("report.html")
_HELD_OUT = 0.2
_QUESTION = "Does a person in the 1994 US census earn over 50,000 dollars a year?"


def demo(
    epsilon: Annotated[
        float,
        typer.Option(
            metavar="E", help="Privacy budget for whole records. Smaller means more noise."
        ),
    ] = 0.1,
    model: Annotated[
        Literal["tree", "boost"],
        typer.Option(
            help="tree: one decision tree. boost: an ensemble, the sum of many small functions, "
            "with delta 1e-6."
        ),
    ] = "tree",
    target: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            show_default=False,
            help="Predict a numeric column, such as hours-per-week, in place of the income class. "
            "The others are age, fnlwgt, education-num, capital-gain and capital-loss.",
        ),
    ] = None,
    max_depth: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            show_default=False,
            help="Largest depth of the tree, by default 4. With --model boost: the number of "
            "features that a function can look at, by default 2.",
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            show_default=False,
            help=f"HTML page about the model to write, by default {_REPORT}.",
        ),
    ] = None,
    output: Annotated[Path | None, output_option("Also save the model to this JSON file.")] = None,
) -> None:
    """Train a private model on the bundled Adult data and show the result.

    The command prints the model, its privacy statement and private scores from a held-out fifth of
    the records, with intervals. For comparison, it prints how good a model without privacy is. It
    also writes report.html, a page that explains the model: open it in a browser.

    Example: privatree demo --epsilon 0.1

    Example: privatree demo --target hours-per-week
    """
    page = report or _REPORT
    for file in (page, output):
        if file is not None:
            check_output(file, [])
    max_depth = (2 if model == "boost" else 4) if max_depth is None else max_depth
    make_learner = learner_class(model, predicts_number=target is not None)
    with name_learner_options(("epsilon", "max_depth")):
        make_learner(epsilon, max_depth=max_depth).check_parameters()
    frame, labels, schema = _load_demo_records(target)
    learner = make_learner(epsilon, max_depth=max_depth, schema=schema)
    with show_spinner("Training"), compile_notice(True):
        learner.fit(frame, labels, holdout=_HELD_OUT)
    question = f"Predicting {target} of persons in the 1994 US census." if target else _QUESTION
    typer.echo(f"{question}\n")
    _show_demo_model(learner)
    with show_spinner("Training without privacy"):
        compare = _compare_classes if target is None else _compare_numbers
        compared = compare(learner, frame, labels)
    typer.echo("For comparison, on another held-out fifth (exact figures: not private)")
    typer.echo("\n".join(compared))
    from privatree.report import html_report

    write_output(page, html_report(learner))
    noun = "tree" if model == "tree" else "ensemble"
    typer.echo(f"\nWrote {page}. Open it in a browser to try the {noun} on values of your own.")
    if output is not None:
        learner.save(output)
        typer.echo(f"Saved {output}. Look at it again with: privatree show {output}")


def _load_demo_records(target: str | None) -> Any:
    """Return the bundled Adult data: features, what to predict, and the schema."""
    from privatree import Numeric, Schema, datasets
    from privatree import Target as TargetRange

    frame, labels, schema = datasets.load("adult")
    if target is None:
        return frame, labels, schema
    ranges = {name: f for name, f in schema.features.items() if isinstance(f, Numeric)}
    if target not in ranges:
        raise ParameterError(
            f"--target must be a numeric column of the bundled data, one of {', '.join(ranges)}, "
            f"got {target!r}.{did_you_mean(target, tuple(ranges))}"
        )
    column = ranges[target]
    others = {name: f for name, f in schema.features.items() if name != target}
    of_number = TargetRange(column.low, column.high, integer=column.integer, name=target)
    return frame[list(others)], frame[target], Schema(others, target=of_number)


def _show_demo_model(model: Any) -> None:
    """Print the tree or the strongest terms, the statement, and the private scores."""
    from privatree import export_text

    is_tree = hasattr(model, "tree_")
    typer.echo(export_text(model) if is_tree else ensemble_overview(model))
    noun = "tree" if is_tree else "ensemble"
    typer.echo(f"\nThe noise differs in every run, and so does the {noun}.")
    typer.echo(f"\n{model.privacy_}\n\n{model.scores_}\n")


def _compare_classes(model: Any, frame: Any, labels: Any) -> list[str]:
    """Return lines about a model without privacy, and about the most frequent class."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score
    from sklearn.tree import DecisionTreeClassifier

    plain: Any = HistGradientBoostingClassifier(random_state=0)
    if hasattr(model, "tree_"):
        plain = DecisionTreeClassifier(max_depth=model.max_depth, random_state=0)
    test_X, test_y, train_y = _fit_without_privacy(plain, frame, labels, stratify=labels)
    area = roc_auc_score(test_y == plain.classes_[1], plain.predict_proba(test_X)[:, 1])
    found = {
        _name_without_privacy(model): (plain.score(test_X, test_y), area),
        "always the most frequent class": ((test_y == train_y.mode()[0]).mean(), 0.5),
    }
    return [
        f"  {name:34}  accuracy {share:.1%}, AUC {auc:.3f}" for name, (share, auc) in found.items()
    ]


def _compare_numbers(model: Any, frame: Any, targets: Any) -> list[str]:
    """Return lines about a model without privacy, and about the median."""
    import numpy as np
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.metrics import r2_score
    from sklearn.tree import DecisionTreeRegressor

    plain: Any = HistGradientBoostingRegressor(random_state=0)
    if hasattr(model, "tree_"):
        plain = DecisionTreeRegressor(max_depth=model.max_depth, random_state=0)
    test_X, test_y, train_y = _fit_without_privacy(plain, frame, targets)
    median = float(train_y.median())
    predicted = {
        _name_without_privacy(model): plain.predict(test_X),
        f"always {median:g}, the median": np.full(len(test_y), median),
    }
    return [
        f"  {name:34}  mean absolute error {np.abs(values - test_y).mean():9.4g}, "
        f"R² {r2_score(test_y, values):5.2f}"
        for name, values in predicted.items()
    ]


def _name_without_privacy(model: Any) -> str:
    return f"{'a tree' if hasattr(model, 'tree_') else 'boosted trees'} without privacy"


def _fit_without_privacy(plain: Any, frame: Any, labels: Any, **options: Any) -> Any:
    """Train a model of scikit-learn on four fifths; return what is needed to test it."""
    from sklearn.model_selection import train_test_split

    train_X, test_X, train_y, test_y = train_test_split(
        _encode_demo_categories(frame), labels, test_size=_HELD_OUT, random_state=0, **options
    )
    plain.fit(train_X, train_y)
    return test_X, test_y, train_y


def _encode_demo_categories(frame: Any) -> Any:
    """Return the frame with categories as codes, for scikit-learn's models."""
    return frame.apply(lambda column: column.cat.codes if column.dtype == "category" else column)
