"""``privatree demo``: train a model on bundled data and explain it, in a few seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from privatree._support.kernels.compile_notice import compile_notice
from privatree.cli._learner_options import name_learner_options
from privatree.cli._output import check_output, output_option, show_spinner, write_output


def demo(
    epsilon: Annotated[
        float,
        typer.Option(
            metavar="E", help="Privacy budget for whole records. Smaller means more noise."
        ),
    ] = 0.1,
    max_depth: Annotated[int, typer.Option(metavar="N", help="Largest depth of the tree.")] = 4,
    report: Annotated[
        Path, typer.Option(metavar="FILE", help="HTML page about the model to write.")
    ] = Path("report.html"),
    output: Annotated[Path | None, output_option("Also save the model to this JSON file.")] = None,
) -> None:
    """Train a private tree on the bundled Adult data and show the result.

    The command prints the tree, its privacy statement and its accuracy on a held-out fifth of the
    records, with the accuracy of a tree without privacy for comparison. It also writes report.html,
    a page that explains the model: open it in a browser.

    Example: privatree demo --epsilon 0.1
    """
    for file in (report, output):
        if file is not None:
            check_output(file, [])
    from sklearn.model_selection import train_test_split
    from sklearn.tree import DecisionTreeClassifier

    from privatree import PrivaTreeClassifier, datasets, export_text
    from privatree.report import html_report

    with name_learner_options(("epsilon", "max_depth")):
        PrivaTreeClassifier(epsilon, max_depth=max_depth).check_parameters()
    frame, labels, schema = datasets.load("adult")
    train_X, test_X, train_y, test_y = train_test_split(
        frame, labels, test_size=0.2, stratify=labels, random_state=0
    )
    model = PrivaTreeClassifier(epsilon, max_depth=max_depth, schema=schema)
    with show_spinner("Training"), compile_notice(True):
        model.fit(train_X, train_y)
        page = html_report(model)

    typer.echo("Does a person in the 1994 US census earn over 50,000 dollars a year?\n")
    typer.echo(export_text(model))
    typer.echo("\nThe noise differs in every run, and so does the tree.")
    typer.echo(f"\n{model.privacy_}\n")
    plain = DecisionTreeClassifier(max_depth=max_depth, random_state=0)
    plain.fit(_encode_demo_categories(train_X), train_y)
    typer.echo("Accuracy on held-out records (exact figures: not private)")
    typer.echo(f"  this tree            {model.score(test_X, test_y):.3f}")
    typer.echo(f"  without privacy      {plain.score(_encode_demo_categories(test_X), test_y):.3f}")
    typer.echo(f"  most frequent class  {(test_y == train_y.mode()[0]).mean():.3f}")
    write_output(report, page)
    typer.echo(f"\nWrote {report}. Open it in a browser to try the tree on values of your own.")
    if output is not None:
        model.save(output)
        typer.echo(f"Saved {output}. Look at it again with: privatree show {output}")


def _encode_demo_categories(frame: Any) -> Any:
    """Return the frame with categories as codes, for scikit-learn's tree."""
    return frame.apply(lambda column: column.cat.codes if column.dtype == "category" else column)
