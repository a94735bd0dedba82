"""``privatree fit``: train a model on files of records and save it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from privatree._support.kernels.compile_notice import compile_notice
from privatree.cli._about_options import (
    Date,
    Description,
    IntendedUse,
    MinRecords,
    Owner,
    Title,
    schema_with_about,
)
from privatree.cli._csv_options import CsvOptions, csv_options
from privatree.cli._engines import Engine, Master, check_engine, open_source_for_engine
from privatree.cli._holdout_options import (
    Holdout,
    ScoreEpsilon,
    check_holdout,
    holdout_parameters,
)
from privatree.cli._learner_options import (
    SCHEMA_HELP,
    Data,
    DatasetSize,
    Epsilon,
    Target,
    name_learner_options,
    parse_number_option,
    read_schema_option,
    warn_of_large_delta,
    warn_of_large_epsilon,
)
from privatree.cli._model_options import (
    Delta,
    Lookahead,
    MaxDepth,
    ModelKind,
    Monotone,
    NoSimplify,
    ProbabilityShare,
    RobustLevels,
    Rounds,
    Schedule,
    Zoom,
    check_options_of_model,
    ensemble_parameters,
    learner_class,
    tree_parameters,
)
from privatree.cli._number_options import (
    Interval,
    LeafValues,
    check_options_of_outcome,
    number_parameters,
)
from privatree.cli._output import (
    check_output,
    model_text,
    output_option,
    print_json,
    print_text,
    write_output,
)
from privatree.cli._weight_options import (
    ClassWeight,
    MaxWeight,
    Unit,
    Weight,
    check_weight_options,
    class_weight_of_labels,
    parse_class_weight,
    schema_with_unit,
)
from privatree.errors import BudgetStoreError, ParameterError, TooFewRecordsError


@csv_options
def fit(
    data: Data,
    target: Target,
    epsilon: Epsilon,
    output: Annotated[Path, output_option("Model file to write, in JSON.")],
    schema: Annotated[Path | None, typer.Option(metavar="FILE", help=SCHEMA_HELP)] = None,
    infer_schema: Annotated[
        bool,
        typer.Option(
            "--infer-schema",
            help="Infer the schema from the records; with --schema, accept its unconfirmed "
            "entries. This leaks: no finite epsilon holds.",
        ),
    ] = False,
    model: ModelKind = "tree",
    max_depth: MaxDepth = None,
    n_bins: Annotated[
        str, typer.Option(metavar="auto|N", help="Number of bins for each numeric column.")
    ] = "auto",
    dataset_size: DatasetSize = "private",
    neighbours: Annotated[
        Literal["add-remove", "replace"],
        typer.Option(
            help="What epsilon protects: adding or removing a record, or replacing a record by "
            "another; with a unit: all records of a unit. With replace the number of records (with "
            "a unit: of units) is public."
        ),
    ] = "add-remove",
    unit: Unit = None,
    weight: Weight = None,
    max_weight: MaxWeight = None,
    class_weight: ClassWeight = None,
    min_records: MinRecords = None,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Seed that makes the noise repeatable, for tests. Anybody who knows the seed can "
            "remove the noise: never publish a model that was trained with one.",
        ),
    ] = None,
    budget: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Budget file of these records, from privatree budget create. Epsilon and delta "
            "are charged to it before any noise is drawn. If the budget does not cover them, "
            "nothing is trained. With min_records, 3% are charged first, and the rest once there "
            "are enough records.",
        ),
    ] = None,
    holdout: Holdout = None,
    score_epsilon: ScoreEpsilon = None,
    engine: Engine = "auto",
    master: Master = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not print the model.")] = False,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print the path of the model file and the privacy statement as JSON."
        ),
    ] = False,
    title: Title = None,
    description: Description = None,
    intended_use: IntendedUse = None,
    owner: Owner = None,
    date: Date = None,
    lookahead: Lookahead = None,
    schedule: Schedule = None,
    robust_levels: RobustLevels = None,
    probability_share: ProbabilityShare = None,
    no_simplify: NoSimplify = False,
    zoom: Zoom = False,
    delta: Delta = None,
    rounds: Rounds = None,
    monotone: Monotone = None,
    leaf_values: LeafValues = None,
    interval: Interval = None,
    *,
    csv: CsvOptions,
) -> None:
    """Train a model on private records and save it with a statement of what is guaranteed.

    The model is a tree or, with --model boost, an ensemble. It predicts classes or, if the schema
    has a target, a number.

    Epsilon covers everything that is printed and saved. Nothing else about the records is shown,
    not even their number or the exact accuracy of the model on them. The column names, the schema
    and these options are assumed to be public, so the guarantee does not cover them.

    How good is the model? --holdout 20% trains it on about 80% of the records, and prints and saves
    private scores from the others, with intervals. That costs no further epsilon.

    A record that does not fit the schema is never an error, because the error would reveal
    something about the record. A number outside its range is clipped. Text in a column of numbers
    and a category that is not in the schema count as missing. A record with an unknown label, or
    with a target that is no number, is left out, and so is a CSV line with too few values, too many
    values or an unclosed quote. So look at your data first: privatree schema draft writes a schema
    to edit, and privatree schema check shows which records do not fit it.

    Can a person have several records? Then name the column that says who with --unit, or in the
    schema, and epsilon holds for all records of a person together. Otherwise it holds for each
    single record. A record without an id is left out.

    Files may be larger than memory: then they are read in passes, 2 to 5 for a tree of depth 4,
    one for each round of an ensemble, and one more each with --unit and --holdout. With --engine
    spark a cluster counts the records, and its executors need access to the files.

    The noisy number of records is drawn first. If it is below min_records of the schema, fit stops
    there with exit code 2: only 3% of epsilon is spent. So the wrong target, an empty file or a
    misspelt class that most records have does not cost all of it. privatree schema check finds the
    others.

    The epsilons of all models of the same records add up. --budget keeps the sum in a file, and
    refuses a model that would exceed the budget.

    An ensemble: privatree fit data.csv --target outcome --schema schema.toml --epsilon 1 --model
    boost -o model.json

    Example: privatree fit data.csv --target outcome --schema schema.toml --epsilon 1 -o model.json
    """
    for_tree: dict[str, Any] = {
        "lookahead": lookahead,
        "schedule": schedule,
        "robust_levels": robust_levels,
        "probability_share": probability_share,
        "no_simplify": no_simplify,
        "zoom": zoom,
        "leaf_values": leaf_values,
    }
    for_boost: dict[str, Any] = {"delta": delta, "rounds": rounds, "monotone": monotone}
    check_options_of_model(model, for_tree, for_boost)
    del for_tree["leaf_values"]  # only a regressor has it
    if schema is None and not infer_schema:
        raise ParameterError(
            "fit needs --schema: a TOML file with the public ranges and categories, and the "
            "classes or the range of the target. privatree schema draft writes one for you to "
            "check. --infer-schema trains without a schema, which leaks."
        )
    if budget is not None and infer_schema:
        raise ParameterError(
            "--budget must be used without --infer-schema: no finite epsilon covers a model whose "
            "schema was inferred. Pass a confirmed --schema."
        )
    check_weight_options(
        unit=unit, weight=weight, max_weight=max_weight, has_schema=schema is not None
    )
    declared = None if schema is None else _read_schema_to_fit(schema, infer_schema, unit)
    check_options_of_outcome(
        declared,
        {"class_weight": class_weight, "probability_share": probability_share},
        {"leaf_values": leaf_values, "interval": interval},
    )
    predicts_number = declared is not None and declared.target is not None
    parameters: dict[str, Any] = {
        "epsilon": epsilon,
        "n_bins": parse_number_option("--n-bins", n_bins, auto="auto"),
        "dataset_size": parse_number_option("--dataset-size", dataset_size, private="private"),
        "neighbours": neighbours,
        "class_weight": parse_class_weight(class_weight),
        "max_sample_weight": 1.0 if max_weight is None else max_weight,
        "random_state": seed,
    }
    if model == "boost":
        parameters |= ensemble_parameters(max_depth, **for_boost)
    else:
        parameters |= tree_parameters(max_depth, **for_tree)
    if predicts_number:
        parameters = number_parameters(model, parameters, leaf_values, interval)

    from privatree.sources import find_files

    check_engine(engine, master, has_schema=schema is not None)
    learner = learner_class(model, predicts_number=predicts_number)
    held_out = holdout_parameters(holdout, score_epsilon)
    named = {*parameters, *held_out}
    with name_learner_options(named):
        learner(**parameters).check_parameters()
        check_holdout(held_out, epsilon)
    files = find_files(data)
    csv.check_with_files(files)
    check_output(output, [*files, *(path for path in (schema, budget) if path is not None)])
    if declared is not None:
        declared = csv.schema_with_dialect(declared)
    declared = schema_with_about(
        declared,
        min_records,
        title=title,
        description=description,
        intended_use=intended_use,
        owner=owner,
        date=date,
    )
    if class_weight is not None:
        parameters["class_weight"] = class_weight_of_labels(parameters["class_weight"], declared)
    quiet = quiet or as_json
    replaces = output.is_file()
    with name_learner_options(named):
        learner(**parameters, schema=declared).check_parameters()
    total = max(epsilon, held_out.get("score_epsilon") or epsilon)
    warn_of_large_epsilon(total)  # also if quiet: epsilon is not spent yet
    warn_of_large_delta(parameters.get("delta", 0.0))

    def train(**more: Any) -> Any:
        with open_source_for_engine(
            files, target, declared, engine, master, quiet, weight=weight
        ) as source:
            return learner(**parameters, **more, schema=declared).fit(source, **held_out)

    with name_learner_options(named), compile_notice(not quiet):
        if declared is None:
            fitted = _fit_without_schema(files, target, csv, learner(**parameters), held_out)
        elif declared.unconfirmed:
            fitted = _fit_and_print_leaks(train)
        elif budget is None:
            fitted = train()
        else:
            fitted = _fit_within_budget(budget, output, total, train, quiet)
    _save_or_print_fit(fitted, output)
    if replaces:  # also if quiet: the replaced model had cost epsilon
        typer.echo(f"Replaced the existing file {output}.", err=True)
    if as_json:
        print_json({"model": str(output), "privacy": fitted.privacy_.to_dict()})
    elif not quiet:
        print_text(f"Saved {output}. Use it with: privatree predict {output} DATA")
        if (for_whom := _for_whom_fit_holds(fitted.privacy_)) is not None:
            print_text(for_whom)
        print_text(f"\n{model_text(fitted, output)}")


def _for_whom_fit_holds(privacy: Any) -> str | None:
    """Say for whom epsilon holds; None if for nobody."""
    from privatree.privacy import shown_amount

    if math.isinf(privacy.epsilon):
        return None
    advice = "" if privacy.unit is not None else (
        " If a person can have several, name the column that says who: --unit COLUMN."
    )  # fmt: skip
    delta = f" with delta {shown_amount(privacy.delta)}" if privacy.delta else ""
    epsilon = shown_amount(privacy.epsilon)
    return f"Epsilon {epsilon}{delta} holds for {privacy.words.whole}.{advice}"


def _save_or_print_fit(model: Any, output: Path) -> None:
    """Save the model. If that fails, print the model, because epsilon was spent on it."""
    try:
        model.save(output)
    except OSError as error:
        from privatree.export import export_json

        write_output(None, export_json(model), form="json")
        raise ParameterError(
            f"{output}: cannot be written ({error.strerror}). Epsilon was spent on the model, so "
            "the model was printed: save the standard output."
        ) from None


def _read_schema_to_fit(schema: Path, infer_schema: bool, unit: str | None) -> Any:
    """Return the schema. Unconfirmed entries are allowed only with --infer-schema."""
    if not infer_schema:
        alternative = ", or pass --infer-schema (then no finite epsilon holds)"
        return read_schema_option(schema, alternative, unit=unit)
    from privatree.schema import Schema

    declared = schema_with_unit(Schema.from_toml(schema), unit)
    if not declared.unconfirmed:
        raise ParameterError(
            f"{schema}: all entries are confirmed, so --infer-schema is not needed. Leave the "
            "option out, and epsilon holds."
        )
    return declared


def _fit_within_budget(
    budget: Path, output: Path, epsilon: float, train: Callable[..., Any], quiet: bool
) -> Any:
    """Train and charge the budget. Whatever can be checked without noise is checked first."""
    from privatree.privacy import BudgetStore

    store = BudgetStore(budget, note=str(output))
    journals = {store.path.with_name(store.path.name + e) for e in ("-journal", "-wal", "-shm")}
    if output.resolve() in journals:  # SQLite would delete it
        raise ParameterError(
            f"{output}: must not be the name of the budget's journal. Name another file."
        )
    before = len(_charges_of_fit(store))
    try:
        model = train(budget=store)
    except TooFewRecordsError:  # its message says what was charged
        raise
    except BaseException:
        if charges := _charges_of_fit(store)[before:]:  # a part of the model may have been seen
            from privatree.privacy import format_epsilon

            charged = format_epsilon(sum((c.epsilon for c in charges), Fraction(0)), up=True)
            stays = f"{delta} stay" if (delta := _delta_of_fit(charges)) else " stays"
            typer.echo(
                f"There is no model, but epsilon {charged}{stays} charged to {budget}.", err=True
            )
        raise
    if not quiet:
        charged = f"{epsilon:g}{_delta_of_fit(_charges_of_fit(store)[before:])}"
        typer.echo(f"Charged epsilon {charged} to {budget}{left_in_budget(store)}.", err=True)
    return model


def _charges_of_fit(store: Any) -> list[Any]:
    """Return the charges with the note of this command; other programs may charge, too."""
    try:
        return [charge for charge in store.charges if charge.note == store.note]
    except BudgetStoreError:  # an error about the training matters more
        return []


def _delta_of_fit(charges: list[Any]) -> str:
    """Return a text on the delta of the charges; empty if it is 0."""
    from privatree.privacy import format_epsilon

    delta = sum((charge.delta for charge in charges), Fraction(0))
    return f" and delta {format_epsilon(delta, up=True)}" if delta else ""


def left_in_budget(store: Any) -> str:
    """Return a text on the budget that is left; empty if the budget cannot be read."""
    from privatree.privacy import share_left

    try:
        account = store.read()
    except BudgetStoreError:
        return ""
    left = share_left(account.remaining, account.epsilon)
    if account.delta:
        delta = share_left(account.remaining_delta, account.delta)
        return f": epsilon {left} and delta {delta} are left"
    return f": {left} is left"


def _fit_and_print_leaks(train: Callable[[], Any]) -> Any:
    """Train with a schema that was read from records, and print the warnings about its leaks."""
    from privatree.errors import PrivacyLeakWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PrivacyLeakWarning)
        model = train()
    for warning in caught:
        typer.echo(f"Warning: {warning.message}", err=True)
    return model


def _fit_without_schema(
    files: Sequence[Path], target: str, csv: CsvOptions, learner: Any, held_out: dict[str, Any]
) -> Any:
    from privatree.sources import read_files_without_schema

    records = read_files_without_schema(files, target, csv.dialect())

    def train() -> Any:
        try:
            return learner.fit(records.features, records.labels, **held_out)
        except (TypeError, ValueError) as error:  # scikit-learn's errors about records
            raise ParameterError(str(error)) from None

    return _fit_and_print_leaks(train)
