"""``privatree certify``: certify the accuracy or error of a learner if records are poisoned."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from privatree.cli._csv_options import CsvOptions, csv_options
from privatree.cli._held_out import (
    drop_missing_targets,
    number_groups,
    number_to_hold_out,
    split_records,
)
from privatree.cli._learner_options import (
    SCHEMA_HELP,
    Data,
    DatasetSize,
    Epsilon,
    Target,
    check_files_have_records,
    name_learner_options,
    parse_number_option,
    read_schema_option,
    read_training_records,
    warn_of_large_delta,
    warn_of_large_epsilon,
)
from privatree.cli._model_options import learner_class
from privatree.cli._number_options import (
    Interval,
    LeafValues,
    check_options_of_outcome,
    number_parameters,
)
from privatree.cli._output import check_output, print_text, write_output
from privatree.cli._weight_options import (
    ClassWeight,
    Unit,
    class_weight_of_labels,
    parse_class_weight,
)
from privatree.errors import ParameterError

_TEST_SHARE = 0.2
_SPLIT_SEED = 0
_CERTIFICATE_OPTIONS = ("poisoned", "confidence", "refits")
_DELTA = 1e-6


@csv_options
def certify(
    data: Data,
    target: Target,
    schema: Annotated[Path, typer.Option(metavar="FILE", help=SCHEMA_HELP)],
    epsilon: Epsilon,
    poisoned: Annotated[
        str,
        typer.Option(
            metavar="N,P%,...",
            help="How many records an attacker adds or removes: numbers, or shares of the "
            "training records. A changed record or label counts as two. With a unit, the numbers "
            "are of units.",
        ),
    ] = "0.1%,0.5%,1%",
    test: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="File of test records, instead of a part of DATA. May be given several times.",
        ),
    ] = None,
    test_share: Annotated[
        float | None,
        typer.Option(
            metavar="S",
            help="Share of DATA that is held out for the test if there is no --test; by default "
            f"{_TEST_SHARE}.",
        ),
    ] = None,
    split_seed: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Seed for the choice of the records that are held out, by default "
            f"{_SPLIT_SEED}. It does not seed the noise.",
        ),
    ] = None,
    confidence: Annotated[
        float,
        typer.Option(
            metavar="P",
            help="Least probability, over the noise, that the certificate is right.",
        ),
    ] = 0.99,
    refits: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Number of trainings. With 400 the certified accuracy is about 0.01 below the "
            "measured one, with 100 about 0.04. With a numeric target: about 0.01 and 0.04 of the "
            "range of the test targets.",
        ),
    ] = 400,
    model: Annotated[
        Literal["tree", "boost"],
        typer.Option(help="tree: one tree. boost: a boosted ensemble of step functions."),
    ] = "tree",
    max_depth: Annotated[
        str | None,
        typer.Option(
            metavar="N|none",
            show_default=False,
            help="Largest depth of the tree, by default 4; none chooses the depth by epsilon and "
            "the noisy number of records. With --model boost 1, 2 or 3, by default 2.",
        ),
    ] = None,
    dataset_size: DatasetSize = "private",
    schedule: Annotated[
        Literal["accuracy", "robust"] | None,
        typer.Option(
            show_default=False,
            help="How the levels of the tree share the budget. accuracy, the default, gives the "
            "most accurate tree; robust gives equal shares, for the strongest certificates.",
        ),
    ] = None,
    robust_levels: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            show_default=False,
            help="Number of levels of the tree with --schedule robust, by default 3.",
        ),
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(
            metavar="D",
            show_default=False,
            help="With --model boost: probability with which epsilon may not hold, by default "
            f"{_DELTA:g}. With 0, epsilon holds always.",
        ),
    ] = None,
    rounds: Annotated[
        str | None,
        typer.Option(
            metavar="auto|N",
            show_default=False,
            help="With --model boost: number of rounds. A number, such as 20, gives much stronger "
            "certificates than auto, the default, which depends on the records.",
        ),
    ] = None,
    unit: Unit = None,
    class_weight: ClassWeight = None,
    leaf_values: LeafValues = None,
    interval: Interval = None,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Seed that makes the refits repeatable. Do not choose it by the result.",
        ),
    ] = None,
    jobs: Annotated[
        int,
        typer.Option(
            metavar="N", help="Number of processes. With --seed the result does not depend on it."
        ),
    ] = max(1, os.cpu_count() or 1),
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Also save the certificate to this JSON file."
        ),
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also certify the prediction of each test record, and save these certificates to "
            "this JSON file: how much poison a class survives, or the interval that a number stays "
            "in. This trains again as many times. Best for few records, named by --test.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the certificate as JSON, and nothing else.")
    ] = False,
    *,
    csv: CsvOptions,
) -> None:
    """Certify the accuracy or error of a private model if an attacker poisons training records.

    One record changes little in what a private learner does, so a few records change little too,
    whatever they are. The command trains the learner many times on DATA with fresh noise, and
    measures the accuracy on the test records. From that follows the average accuracy that is left
    after any additions and removals of N records. --schedule robust usually certifies more for
    many poisoned records, and costs some accuracy without poison. --model boost certifies an
    ensemble; declare its --rounds.

    If the schema has a target, which is a number, the mean absolute error is certified in place of
    the accuracy. Test records without a target are left out then.

    With --unit, or a unit in the schema, an attacker adds and removes all records of a person at
    once, and whole persons are held out for the test.

    The certificate is not private: it is computed from the exact records. Publishing it is outside
    epsilon. A schema must be given, because poisoned records could change a schema that is read
    from the records.

    Example: privatree certify data.csv --target outcome --schema schema.toml --epsilon 0.1
    --poisoned 10,100,1%
    """
    parameters: dict[str, Any] = {
        "epsilon": epsilon,
        "dataset_size": parse_number_option("--dataset-size", dataset_size, private="private"),
        "class_weight": parse_class_weight(class_weight),
        "random_state": seed,
        **_parameters_to_certify(
            model, max_depth, schedule, robust_levels, leaf_values, delta, rounds
        ),
    }
    if test and (test_share is not None or split_seed is not None):
        raise ParameterError(
            "--test must be given without --test-share and --split-seed, which choose test records "
            "from DATA. Leave them out."
        )
    test_share = _TEST_SHARE if test_share is None else test_share
    split_seed = _SPLIT_SEED if split_seed is None else split_seed
    if jobs < 1:
        raise ParameterError(f"--jobs must be at least 1, got {jobs}.")
    if not 0 < test_share < 1:
        raise ParameterError(f"--test-share must be between 0 and 1, got {test_share:g}.")
    if not 0 <= split_seed < 2**32:
        raise ParameterError(f"--split-seed must be >= 0 and < 2**32, got {split_seed}.")
    if seed is not None and seed < 0:
        raise ParameterError(f"--seed must be >= 0, got {seed}.")
    numbers = _parse_poisoned_to_certify(poisoned)

    from privatree.robustness import accuracy_certificate, error_certificate
    from privatree.robustness.certificates import (
        check_certification_parameters,
        refuse_counted_size,
    )
    from privatree.sources import find_files, read_files
    from privatree.sources.csv import STANDARD_INPUT, csv_reading_assumptions

    learner = learner_class(model)
    with name_learner_options([*parameters, *_CERTIFICATE_OPTIONS]):  # before any record is read
        learner(**parameters).check_parameters()
        check_certification_parameters(confidence, refits, numbers)
    if STANDARD_INPUT in data and STANDARD_INPUT in (test or ()):
        raise ParameterError(
            "- (standard input) must be given as DATA or as --test, got it as both. Standard input "
            "can be read only once."
        )
    files, test_files = find_files(data), find_files(test or [])
    csv.check_with_files([*files, *test_files])
    read = [*files, *test_files, schema]
    if output is not None:
        check_output(output, read)
    if predictions is not None:
        check_output(predictions, [*read, *([] if output is None else [output])])
    declared = csv.schema_with_dialect(read_schema_option(schema, unit=unit))
    check_options_of_outcome(
        declared,
        {"class_weight": class_weight},
        {"leaf_values": leaf_values, "interval": interval},
    )
    predicts_number = declared.target is not None
    if predicts_number:
        parameters = number_parameters(model, parameters, leaf_values, interval)
        learner = learner_class(model, predicts_number=True)
        with name_learner_options(parameters):
            learner(**parameters, schema=declared).check_parameters()
    else:
        parameters["class_weight"] = class_weight_of_labels(parameters["class_weight"], declared)
    warn_of_large_epsilon(epsilon)
    warn_of_large_delta(parameters.get("delta", 0.0))
    records = read_training_records(files, target, declared, quiet=as_json)
    check_files_have_records(files, records.labels)
    groups = number_groups(records)
    n_groups, counted = int(groups.max()) + 1, "records" if records.units is None else "units"
    if records.units is not None:
        features = records.features.append_column(declared.unit, records.units)
        records = replace(records, features=features)
    if test_files:
        held_out = read_files(test_files, declared, target, allow_ragged=False)
        check_files_have_records(test_files, held_out.labels)
        split = (records.features, held_out.features, records.labels, held_out.labels)
    else:
        with name_learner_options(parameters):  # whoever counts records counts all in the files
            refuse_counted_size(parameters["dataset_size"], {n_groups, len(groups)}, counted)
        n_test = number_to_hold_out(n_groups, test_share, counted)
        split = split_records(records, groups, n_test, split_seed)
    del records  # free the memory: the split holds a copy
    train_X, test_X, train_y, test_y = split
    notes = [f"It rests on this: {a}." for a in csv_reading_assumptions(files, declared.csv)]
    if predicts_number:
        test_X, test_y, more = drop_missing_targets(test_X, test_y)
        notes = [*more, *notes]
    if not test_files and not as_json:
        typer.echo(
            f"Held out for the test: {n_test} of {n_groups} {counted} "
            f"(--split-seed {split_seed}). The certificate is about training on the others.",
            err=True,
        )
    options: dict[str, Any] = {"confidence": confidence, "refits": refits, "n_jobs": jobs}
    certify_score = error_certificate if predicts_number else accuracy_certificate
    with name_learner_options([*parameters, *_CERTIFICATE_OPTIONS]):
        certificate = certify_score(
            learner(**parameters, schema=declared),
            train_X,
            train_y,
            test_X,
            test_y,
            poisoned=numbers,
            **options,
        )
    certificate = replace(certificate, notes=(*certificate.notes, *notes))
    try:
        if output is not None:
            certificate.save(output)
    finally:  # print even if the disk is full: the result took hours
        if as_json:
            write_output(None, f"{certificate.to_json()}\n", form="json")
        else:
            print_text(str(certificate))
    if output is not None and not as_json:
        print_text(f"\nSaved {output}.")
    if predictions is not None:
        of_each = _certify_predictions(
            learner(**parameters, schema=declared), train_X, train_y, test_X, numbers, options
        )
        of_each = replace(of_each, notes=(*of_each.notes, *notes))
        of_each.save(predictions)
        if not as_json:
            print_text(f"\n{of_each}\n\nSaved {predictions}.")


def _certify_predictions(
    learner: Any, X: Any, y: Any, X_test: Any, poisoned: list[int | str], options: dict[str, Any]
) -> Any:
    """Return the certificates of single classes, or the intervals of single numbers."""
    from privatree.robustness import prediction_certificates, prediction_intervals

    if learner.schema.target is None:
        return prediction_certificates(learner, X, y, X_test, **options)
    return prediction_intervals(learner, X, y, X_test, poisoned=poisoned, **options)


def _parameters_to_certify(
    model: str,
    max_depth: str | None,
    schedule: str | None,
    robust_levels: int | None,
    leaf_values: str | None,
    delta: float | None,
    rounds: str | None,
) -> dict[str, Any]:
    """Return the parameters that only the chosen learner has."""
    for_tree = {
        "--schedule": schedule,
        "--robust-levels": robust_levels,
        "--leaf-values": leaf_values,
    }
    for_ensemble = {"--delta": delta, "--rounds": rounds}
    wrong, right = (for_tree, "tree") if model == "boost" else (for_ensemble, "boost")
    if given := [name for name, value in wrong.items() if value is not None]:
        raise ParameterError(f"{given[0]} must be used with --model {right}.")
    if model == "boost":
        return {
            "max_depth": parse_number_option("--max-depth", max_depth or "2", none=None),
            "delta": _DELTA if delta is None else delta,
            "rounds": parse_number_option("--rounds", rounds or "auto", auto="auto"),
        }
    return {
        "max_depth": parse_number_option("--max-depth", max_depth or "4", none=None),
        "schedule": schedule or "accuracy",
        "robust_levels": 3 if robust_levels is None else robust_levels,
    }


def _parse_poisoned_to_certify(given: str) -> list[int | str]:
    entries = [entry.strip() for entry in given.split(",")]
    try:
        return [entry if entry.endswith("%") else int(entry) for entry in entries]
    except ValueError:
        raise ParameterError(
            "--poisoned must be numbers and shares, separated by commas, such as 10,100,1%, got "
            f"{given!r}."
        ) from None
