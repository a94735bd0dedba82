"""``privatree fit``: from files of records to a model file."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from privatree._support.kernels.compile_notice import compile_notice
from privatree.cli._csv_options import CsvOptions, csv_options
from privatree.cli._declared_schema import read_confirmed_schema
from privatree.cli._engines import Engine, Master, check_engine, file_source
from privatree.cli._learner_options import (
    SCHEMA_HELP,
    Data,
    DatasetSize,
    Epsilon,
    MaxDepth,
    RobustLevels,
    Schedule,
    Target,
    named_as_options,
    warn_of_large_epsilon,
    whole_number,
)
from privatree.cli._output import check_output, say, write_output
from privatree.errors import BudgetStoreError, ParameterError


@csv_options
def fit(
    data: Data,
    target: Target,
    epsilon: Epsilon,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The model file to write: JSON.")
    ],
    schema: Annotated[Path | None, typer.Option(metavar="FILE", help=SCHEMA_HELP)] = None,
    infer_schema: Annotated[
        bool,
        typer.Option(
            "--infer-schema",
            help="Read the schema from the records; with --schema, let its unconfirmed entries "
            "pass. This leaks: no finite epsilon holds.",
        ),
    ] = False,
    max_depth: MaxDepth = "4",
    lookahead: Annotated[
        str, typer.Option(metavar="auto|1|2|3", help="How many levels are chosen together.")
    ] = "auto",
    n_bins: Annotated[
        str, typer.Option(metavar="auto|N", help="How finely the range of a number is cut.")
    ] = "auto",
    dataset_size: DatasetSize = "private",
    schedule: Schedule = "accuracy",
    robust_levels: RobustLevels = 3,
    neighbours: Annotated[
        Literal["add-remove", "replace"],
        typer.Option(
            help="Whether epsilon is for one record more or less, or for one replaced by another; "
            "then the number of records is public."
        ),
    ] = "add-remove",
    probability_share: Annotated[
        float,
        typer.Option(
            metavar="S", help="Share of epsilon, below 1, for class probabilities in the leaves."
        ),
    ] = 0.0,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Makes the noise repeatable, for tests. Whoever knows the seed can remove it: "
            "never publish such a model.",
        ),
    ] = None,
    budget: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The budget of these records, made by privatree budget create: charged with "
            "epsilon before anything is drawn. If it does not cover it, nothing is.",
        ),
    ] = None,
    engine: Engine = "auto",
    master: Master = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not print the model.")] = False,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print the name of the model file and its privacy statement as JSON."
        ),
    ] = False,
    *,
    csv: CsvOptions,
) -> None:
    """Train a tree on private records and save it with a statement of what is guaranteed.

    What is printed and saved is what epsilon pays for; neither tells more of the records, such as
    how many there are or how well the tree does on them. Public, and so outside the guarantee, are
    the names of the columns, what the schema says, and these options.

    The schema decides what a column is. What does not fit it is never an error, which would tell
    of a record: a number is clipped to its range, what is not a number counts as missing, a
    category that is not in the schema too, and a record with an unknown label or a CSV line with
    too few or too many values, or with quotes that it does not close, is left out. So look at your
    data before: privatree schema draft writes a schema to edit, privatree schema check shows which
    records do not fit it.

    Files may be larger than memory: then they are read in passes, of which a tree of depth 4 takes
    2 to 5. With --engine spark a cluster counts, whose executors must see the files too.

    Several models of the same records cost the sum of their epsilons. --budget keeps that sum in a
    file, and refuses a model that it does not cover.

    Example: privatree fit data.csv --target outcome --schema schema.toml --epsilon 1 -o model.json
    """
    if schema is None and not infer_schema:
        raise ParameterError(
            "fit needs --schema: a TOML file of the public ranges, categories and classes. "
            "privatree schema draft writes one for you to check; --infer-schema does without, "
            "which leaks."
        )
    if budget is not None and infer_schema:
        raise ParameterError(
            "--budget must be used with --schema: with --infer-schema no finite epsilon covers the "
            "model."
        )
    parameters: dict[str, Any] = {
        "epsilon": epsilon,
        "max_depth": whole_number("--max-depth", max_depth, none=None),
        "lookahead": whole_number("--lookahead", lookahead, auto="auto"),
        "n_bins": whole_number("--n-bins", n_bins, auto="auto"),
        "dataset_size": whole_number("--dataset-size", dataset_size, private="private"),
        "schedule": schedule,
        "robust_levels": robust_levels,
        "neighbours": neighbours,
        "probability_share": probability_share,
        "random_state": seed,
    }

    from privatree import PrivaTreeClassifier
    from privatree.sources import find_files

    check_engine(engine, master, has_schema=schema is not None)
    with named_as_options(parameters):
        PrivaTreeClassifier(**parameters).check_parameters()
    files = find_files(data)
    csv.check(files)
    check_output(output, [*files, *(path for path in (schema, budget) if path is not None)])
    declared = None if schema is None else csv.declared_in(_declared(schema, infer_schema))
    quiet = quiet or as_json
    replaces = output.is_file()
    warn_of_large_epsilon(epsilon)  # also if quiet: now it is not yet spent

    def train(**more: Any) -> Any:
        where = (files, target, declared, engine, master, quiet)
        with file_source(*where) as source:
            learner = PrivaTreeClassifier(**parameters, **more, schema=declared)
            return learner.fit(source)

    with named_as_options(parameters), compile_notice(not quiet):
        if declared is None:
            model = _trained_without_schema(files, target, csv, parameters)
        elif declared.unconfirmed:
            model = _trained_with_leaks(train)
        elif budget is None:
            model = train()
        else:
            model = _trained_within(budget, output, epsilon, train, quiet)
    _save(model, output)
    if replaces:  # also if quiet: a model costs epsilon
        typer.echo(f"Replaced {output}, which was there before.", err=True)
    if as_json:
        statement = model.privacy_.to_dict()
        written = json.dumps({"model": str(output), "privacy": statement}, indent=1)
        write_output(None, f"{written}\n", form="json")
    elif not quiet:
        from privatree import export_text

        say(f"Saved {output}. Use it with: privatree predict {output} DATA\n")
        say(f"{export_text(model)}\n\n{model.privacy_}")


def _save(model: Any, output: Path) -> None:
    """Save the model; what epsilon was spent on must not be lost for a full disk."""
    try:
        model.save(output)
    except OSError as error:
        from privatree.export import export_json

        write_output(None, export_json(model), form="json")
        raise ParameterError(
            f"{output}: {error.strerror}. The model cost epsilon, so it was printed instead: save "
            "the standard output."
        ) from None


def _declared(schema: Path, infer_schema: bool) -> Any:
    """The schema of the file; with --infer-schema one that has unconfirmed entries."""
    if not infer_schema:
        return read_confirmed_schema(
            schema, ", or pass --infer-schema (no finite epsilon then holds)"
        )
    from privatree.schema import Schema

    declared = Schema.from_toml(schema)
    if not declared.unconfirmed:
        raise ParameterError(
            f"{schema}: nothing in it is unconfirmed, so --infer-schema has nothing to let pass. "
            "Leave it out: then epsilon holds."
        )
    return declared


def _trained_within(
    budget: Path, output: Path, epsilon: float, train: Callable[..., Any], quiet: bool
) -> Any:
    """Train, charging the budget; what can go wrong before goes wrong before."""
    from privatree.privacy import BudgetStore

    store = BudgetStore(budget, note=str(output))
    _refuse_journal(output, store.path)
    before = _charges(store)
    try:
        model = train(budget=store)
    except BaseException:
        if _charges(store) > before:  # nobody can tell what was seen of it
            typer.echo(f"The charge to {budget} stands, though there is no model.", err=True)
        raise
    if not quiet:
        typer.echo(f"Charged epsilon {epsilon:g} to {budget}{_left(store)}.", err=True)
    return model


def _charges(store: Any) -> int:
    """How many charges were made for this output; others may be made at the same time."""
    try:
        return sum(charge.note == store.note for charge in store.charges)
    except BudgetStoreError:  # of an error there is something else to tell
        return 0


def _refuse_journal(output: Path, budget: Path) -> None:
    """SQLite takes files of these names for its own, and deletes them."""
    own = {budget.with_name(budget.name + end) for end in ("-journal", "-wal", "-shm")}
    if output.resolve() in own:
        raise ParameterError(f"{output}: is the name of the budget's journal. Name another file.")


def _left(store: Any) -> str:
    """What the budget has left; nothing if it cannot be read now, for the model is to be saved."""
    from privatree.privacy import format_epsilon

    try:
        account = store.read()
    except BudgetStoreError:
        return ""
    left, whole = (
        format_epsilon(account.remaining, up=False),
        format_epsilon(account.epsilon, up=False),
    )
    return f": {left} of {whole} is left"


def _trained_with_leaks(train: Callable[[], Any]) -> Any:
    """Train with a schema that was read from records, now or before, and say what that means."""
    from privatree.errors import PrivacyLeakWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PrivacyLeakWarning)
        model = train()
    for warning in caught:
        typer.echo(f"Warning: {warning.message}", err=True)
    return model


def _trained_without_schema(
    files: list[Path], target: str, csv: CsvOptions, parameters: dict[str, Any]
) -> Any:
    """Train with what the records show of a schema."""
    from privatree import PrivaTreeClassifier
    from privatree.sources import read_files_without_schema

    records = read_files_without_schema(files, target, csv.dialect())

    def train() -> Any:
        try:
            return PrivaTreeClassifier(**parameters).fit(records.features, records.labels)
        except (TypeError, ValueError) as error:  # about the records, as in scikit-learn
            raise ParameterError(str(error)) from None

    return _trained_with_leaks(train)
