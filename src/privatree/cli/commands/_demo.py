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

    The command prints the model, its privacy statement and its accuracy on a held-out fifth of the
    records, with the accuracy of a model without privacy for comparison; for a number, the error.
    It also writes report.html, a page that explains the model: open it in a browser.

    Example: privatree demo --epsilon 0.1

    Example: privatree demo --target hours-per-week
    """
    page = report or _REPORT
    for file in (page, output):
        if file is not None:
            check_output(file, [])
    from sklearn.model_selection import train_test_split

    max_depth = (2 if model == "boost" else 4) if max_depth is None else max_depth
    make_learner = learner_class(model, predicts_number=target is not None)
    with name_learner_options(("epsilon", "max_depth")):
        make_learner(epsilon, max_depth=max_depth).check_parameters()
    frame, labels, schema = _load_demo_records(target)
    train_X, test_X, train_y, test_y = train_test_split(
        frame,
        labels,
        test_size=0.2,
        stratify=labels if target is None else None,
        random_state=0,
    )
    learner = make_learner(epsilon, max_depth=max_depth, schema=schema)
    with show_spinner("Training"), compile_notice(True):
        learner.fit(train_X, train_y)
    question = f"Predicting {target} of persons in the 1994 US census." if target else _QUESTION
    typer.echo(f"{question}\n")
    if target is None:
        show = _show_demo_tree if model == "tree" else _show_demo_ensemble
    else:
        show = _show_demo_number
    show(learner, train_X, test_X, train_y, test_y)
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


def _show_demo_tree(model: Any, train_X: Any, test_X: Any, train_y: Any, test_y: Any) -> None:
    """Print the tree, its statement, and its accuracy beside that of a tree without privacy."""
    from sklearn.tree import DecisionTreeClassifier

    from privatree import export_text

    typer.echo(export_text(model))
    typer.echo("\nThe noise differs in every run, and so does the tree.")
    typer.echo(f"\n{model.privacy_}\n")
    plain = DecisionTreeClassifier(max_depth=model.max_depth, random_state=0)
    plain.fit(_encode_demo_categories(train_X), train_y)
    typer.echo("Accuracy on held-out records (exact figures: not private)")
    typer.echo(f"  this tree            {model.score(test_X, test_y):.3f}")
    typer.echo(f"  without privacy      {plain.score(_encode_demo_categories(test_X), test_y):.3f}")
    typer.echo(f"  most frequent class  {(test_y == train_y.mode()[0]).mean():.3f}")


def _show_demo_ensemble(model: Any, train_X: Any, test_X: Any, train_y: Any, test_y: Any) -> None:
    """Print the strongest terms, the statement, and scores beside those of boosted trees."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score

    typer.echo(ensemble_overview(model))
    typer.echo("\nThe noise differs in every run, and so does the ensemble.")
    typer.echo(f"\n{model.privacy_}\n")
    with show_spinner("Training without privacy"):
        plain = HistGradientBoostingClassifier(random_state=0)
        plain.fit(_encode_demo_categories(train_X), train_y)
    typer.echo("On held-out records (exact figures: not private)  accuracy  AUC")
    records = {"this ensemble": (model, test_X)}
    records["boosted trees without privacy"] = (plain, _encode_demo_categories(test_X))
    for name, (scored, held_out) in records.items():
        auc = roc_auc_score(test_y == scored.classes_[1], scored.predict_proba(held_out)[:, 1])
        typer.echo(f"  {name:46}  {scored.score(held_out, test_y):.3f}     {auc:.3f}")
    majority = (test_y == train_y.mode()[0]).mean()
    typer.echo(f"  {'most frequent class':46}  {majority:.3f}     0.500")


def _show_demo_number(model: Any, train_X: Any, test_X: Any, train_y: Any, test_y: Any) -> None:
    """Print the tree or the strongest terms, the statement, and errors without privacy, too."""
    import numpy as np
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.metrics import r2_score
    from sklearn.tree import DecisionTreeRegressor

    from privatree import export_text

    is_tree = hasattr(model, "tree_")
    noun = "tree" if is_tree else "ensemble"
    typer.echo(export_text(model) if is_tree else ensemble_overview(model))
    typer.echo(f"\nThe noise differs in every run, and so does the {noun}.")
    typer.echo(f"\n{model.privacy_}\n")
    plain: Any = HistGradientBoostingRegressor(random_state=0)
    if is_tree:
        plain = DecisionTreeRegressor(max_depth=model.max_depth, random_state=0)
    with show_spinner("Training without privacy"):
        plain.fit(_encode_demo_categories(train_X), train_y)
    median = float(train_y.median())
    predicted = {
        f"this {noun}": model.predict(test_X),
        f"{'tree' if is_tree else 'boosted trees'} without privacy": plain.predict(
            _encode_demo_categories(test_X)
        ),
        f"always {median:g}, the median": np.full(len(test_y), median),
    }
    typer.echo("On held-out records (exact figures: not private)  mean absolute error     R2")
    for name, values in predicted.items():
        error, share = np.abs(values - test_y).mean(), r2_score(test_y, values)
        typer.echo(f"  {name:46}  {error:19.4g}  {share:5.2f}")


def _encode_demo_categories(frame: Any) -> Any:
    """Return the frame with categories as codes, for scikit-learn's models."""
    return frame.apply(lambda column: column.cat.codes if column.dtype == "category" else column)
