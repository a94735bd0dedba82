"""``privatree score``: how good a saved model is for labelled records, privately."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from privatree.cli._csv_options import CsvOptions, csv_options
from privatree.cli._learner_options import (
    Data,
    name_learner_options,
    print_ignored_columns,
    warn_of_large_epsilon,
)
from privatree.cli._output import (
    check_output,
    output_option,
    print_json,
    print_text,
    show_spinner,
    write_output,
)
from privatree.cli._weight_options import MaxWeight, Unit, Weight, check_weight_options
from privatree.cli.commands._fit import left_in_budget
from privatree.cli.commands._show import Model
from privatree.errors import ParameterError


@csv_options
def score(
    model: Model,
    data: Data,
    epsilon: Annotated[
        float,
        typer.Option(
            metavar="E",
            help="Privacy budget of all scores together, > 0. It is spent on the records of DATA.",
        ),
    ],
    target: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            show_default=False,
            help="The column with the true label or number. The default is the target that the "
            "model names.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        output_option("File of the scores to write, in JSON, for privatree report --scores."),
    ] = None,
    unit: Unit = None,
    weight: Weight = None,
    max_weight: MaxWeight = None,
    neighbours: Annotated[
        Literal["add-remove", "replace"],
        typer.Option(
            help="What epsilon protects: adding or removing a record, or replacing a record by "
            "another; with a unit: all records of a unit."
        ),
    ] = "add-remove",
    budget: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Budget file of these records, from privatree budget create. Epsilon is charged "
            "to it before any noise is drawn.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Seed that makes the noise repeatable, for tests. Never publish scores that were "
            "made with one.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the scores as JSON, as in the file.")
    ] = False,
    *,
    csv: CsvOptions,
) -> None:
    """Score a saved MODEL on labelled records, with differential privacy for these records.

    For classes the scores are accuracy, balanced accuracy, recall and precision of each class and,
    if the model has probabilities, AUC, Brier score and log loss. For a number they are R², mean
    absolute error and root mean squared error. Each has an interval that counts both the noise and
    that the records are a sample, so the scores can be published with the model.

    DATA should be records that the model was not trained with: for those it looks better than it
    is, and the epsilons of model and scores add up. A record with an unknown label, or without a
    target, is left out, as in training.

    Example: privatree score model.json test.csv --target outcome --epsilon 0.1 -o scores.json
    """
    check_weight_options(unit=unit, weight=weight, max_weight=max_weight, has_schema=True)

    from privatree.model import read_release
    from privatree.privacy import BudgetStore, check_epsilon
    from privatree.sources import find_files

    with name_learner_options(("epsilon",)):
        check_epsilon(epsilon)
    files = find_files(data)
    csv.check_with_files(files)
    if output is not None:
        check_output(output, [model, *files, *([] if budget is None else [budget])])
    loaded = read_release(model)
    source = _open_scored_files(loaded, files, _target_to_score(loaded, target), unit, weight, csv)
    store = None if budget is None else BudgetStore(budget, note=str(output or model))
    warn_of_large_epsilon(epsilon)

    from privatree.evaluation import private_scores

    with (
        name_learner_options(("epsilon", "neighbours", "max_sample_weight", "random_state")),
        show_spinner("Scoring", shown=not as_json),
    ):
        scores = private_scores(
            loaded,
            source,
            epsilon=epsilon,
            max_sample_weight=1.0 if max_weight is None else max_weight,
            neighbours=neighbours,
            budget=store,
            random_state=seed,
        )
    if store is not None:
        left = left_in_budget(store)
        typer.echo(f"Charged epsilon {epsilon:g} to {budget}{left}.", err=True)
    if output is not None:
        _save_or_print_scores(scores, output)
    if as_json:
        print_json(scores.to_dict(), allow_nan=False, ensure_ascii=False)
        return
    print_ignored_columns(source.ignored)
    print_text(str(scores))
    if output is not None:
        print_text(
            f"Saved {output}. Add it to the page: privatree report {model} --scores {output}"
        )


def _target_to_score(loaded: Any, given: str | None) -> str:
    """Return the name of the target column: by default the one that the model names."""
    if given is not None:
        return given
    schema = loaded.schema_
    named = None if schema.target is None else schema.target.name
    if named is None and schema.about is not None:
        named = schema.about.target
    if named is None:
        raise ParameterError(
            "--target must be given: the model does not say which column it predicts. Name the "
            "column of DATA with the true labels or numbers."
        )
    return str(named)


def _open_scored_files(
    loaded: Any,
    files: Sequence[Path],
    target: str,
    unit: str | None,
    weight: str | None,
    csv: CsvOptions,
) -> Any:
    """Return the files as a source; raise an error if columns are missing."""
    from privatree.sources import CsvSource, ParquetSource, is_csv_path

    options: dict[str, Any] = {"target": target, "unit": unit, "weight": weight}
    if is_csv_path(files[0]):
        source: Any = CsvSource(files, **options, **csv.given)
    else:
        source = ParquetSource(files, **options)
    source.open(loaded.schema_)  # for its errors, before the user is warned of anything
    return source


def _save_or_print_scores(scores: Any, output: Path) -> None:
    """Save the scores. If that fails, print them, because epsilon was spent on them."""
    try:
        scores.save(output)
    except OSError as error:
        write_output(None, scores.to_json(), form="json")
        raise ParameterError(
            f"{output}: cannot be written ({error.strerror}). Epsilon was spent on the scores, so "
            "they were printed: save the standard output."
        ) from None
