"""``privatree audit``: find lower bounds on the real epsilon of a method, with confidence."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from privatree.cli._csv_options import CsvOptions, csv_options
from privatree.cli._output import check_output, output_option, print_json, print_text, write_output
from privatree.cli._weight_options import UNIT_HELP, schema_with_unit
from privatree.errors import ParameterError


@csv_options
def audit(
    method: Annotated[
        str,
        typer.Argument(
            metavar="METHOD",
            help="Method to audit: privatree, privatree-robust, privaboost (an ensemble with "
            "delta 1e-6), privaboost-pure (the same with delta 0), privatree-paper, "
            "privatree-star, bdpt, dpgdf, random-tree, diffprivlib-tree, diffprivlib-forest, "
            "diffprivlib-logistic, dp-ebm; one of the other published methods sulq-id3, "
            "private-rdt, sulq-based-id3, diffpid3, diffp-c45, diffgen, dt-diff, dprf, dpdf, rana, "
            "smooth-random, adiffp, train-single-tree and the forests private-rdt-forest, dprfmv, "
            "dprfta, dpdf-forest, rana-forest, smooth-random-forest; or decision-tree, dpa and "
            "lightgbm, which have no privacy.",
        ),
    ],
    epsilon: Annotated[float, typer.Option(metavar="E", help="Privacy budget of the method.")],
    runs: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Number of trainings on each table. The pair purity takes 4 times as many, "
            "many-features 24 times, lead 10 times. With N trainings, a bound cannot be much above "
            "log(N / 8).",
        ),
    ] = 1000,
    pairs: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="Pairs to train on. Pairs of tables: purity, many-features, new-class, "
            "new-category, outlier, size-threshold, category-order, three-records, first-row, "
            "part-sizes, no-records, lead, noisy-size, and of units: one-person, two-places. Pairs "
            "of files: "
            "open-quote, quoted-newline, odd-bytes, text-in-numbers, new-values, ragged-line, "
            "long-line, odd-folder. Pairs with a numeric target: target-range, far-target, "
            "other-side, two-numbers, missing-target, no-numbers. The default is all of these but "
            "those with a numeric target.",
        ),
    ] = None,
    numbers: Annotated[
        bool,
        typer.Option(
            "--numbers",
            help="Train on all pairs with a numeric target, instead of those with classes. "
            "The methods privatree, privatree-robust, privaboost, privaboost-pure and "
            "decision-tree can predict numbers.",
        ),
    ] = False,
    reader: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Reader of the pairs of files. memory, stream: as in fit --engine (only "
            "privatree, privatree-robust, privaboost and privaboost-pure). table: into a data "
            "frame (all methods). multiline, pandas, pyarrow: readers that break the guarantee, "
            "for comparison. The default is memory, or table for methods that cannot read files.",
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File with a dataset of your own, in place of the pairs: CSV, Parquet or Excel.",
        ),
    ] = None,
    neighbour: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File with the same dataset and one record added, removed or replaced; with a "
            "unit, with all records of one unit added or removed.",
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="With --data: the column to predict."),
    ] = None,
    schema: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="With --data: TOML file with its public schema."),
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            show_default=False,
            help=f"{UNIT_HELP} Only with --data; the default is unit of the schema.",
        ),
    ] = None,
    max_depth: Annotated[
        int, typer.Option(metavar="N", help="Depth of the trees, unless the pair needs another.")
    ] = 4,
    confidence: Annotated[
        float,
        typer.Option(
            help="All bounds hold together with at least this probability, over the noise."
        ),
    ] = 0.99,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Seed that makes the trainings repeatable. By default the noise comes from the "
            "operating system, as in real use."
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(metavar="N", help="Number of parallel processes.")] = max(
        1, os.cpu_count() or 1
    ),
    output: Annotated[Path | None, output_option("Also save the report to this JSON file.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print only the report, as JSON.")
    ] = False,
    *,
    csv: CsvOptions,
) -> None:
    """Try to refute the privacy claim of a method by training it many times.

    The models of a private method are almost equally likely for two tables that differ in one
    record. The method is trained many times on both tables of a pair. The report describes the
    event that tells the two apart best, and gives the lower bound on the real epsilon that follows
    from it. A bound above the claimed epsilon refutes the claim; a bound below it proves nothing.
    Each pair looks for one mistake that published methods make. Some pairs are files that differ in
    one line: these audit the reader together with the method.

    By default this takes some minutes; --runs 100 gives a first impression much faster. The exit
    code is 0 whatever the result.

    The methods of other libraries need the extra "bench" of this package, best installed in a
    separate environment.

    Example: privatree audit privatree-paper --epsilon 1

    Example: privatree audit privatree --epsilon 1 --data a.csv --neighbour b.csv --target outcome
    --schema schema.toml
    """
    if csv.given and data is None:
        raise ParameterError(f"--{min(csv.given)} must be used with --data.")
    if unit is not None and data is None:
        raise ParameterError("--unit must be used with --data.")
    own = (data, neighbour, target, schema)
    if any(given is not None for given in own) and None in own:
        raise ParameterError(
            "--data, --neighbour, --target and --schema must be given together: they describe a "
            "pair of tables of your own."
        )
    if data is not None and (pairs, reader) != (None, None):
        option = "--pairs" if reader is None else "--reader"
        raise ParameterError(f"{option} and --data exclude each other. Leave one out.")
    if numbers and (pairs, data) != (None, None):
        option = "--pairs" if data is None else "--data"
        raise ParameterError(
            f"--numbers and {option} exclude each other: {option} says what is predicted. Leave "
            "one out."
        )
    if jobs < 1:
        raise ParameterError(f"--jobs must be at least 1, got {jobs}.")
    if seed is not None and not 0 <= seed < 2**32:
        raise ParameterError(f"--seed must be >= 0 and < 2**32, got {seed}.")
    if output is not None:
        check_output(output, [path for path in (data, neighbour, schema) if path is not None])

    from privatree._support.validation import check_integer
    from privatree.audit import FileNeighbours
    from privatree.audit import audit as audit_learner
    from privatree.audit.pairs import chosen_pairs
    from privatree.baselines import methods
    from privatree.baselines.methods import Training
    from privatree.cli._learner_options import name_learner_options
    from privatree.estimators import MAX_DEPTH
    from privatree.privacy import check_epsilon
    from privatree.repetition import check_confidence

    audited = methods.get(method)
    if audited.missing is not None:
        raise ParameterError(
            f"{audited.missing}. Install it with: pip install 'privatree[bench]', best in a "
            "separate environment."
        )
    with name_learner_options(("epsilon", "max_depth", "confidence", "runs", "pairs", "reader")):
        check_epsilon(epsilon)
        check_integer("max_depth", max_depth, 1, MAX_DEPTH)
        check_confidence(confidence)
        names = None if pairs is None else [name.strip() for name in pairs.split(",")]
        chosen = chosen_pairs(
            names, epsilon, read=_choose_audit_reader(reader, audited), numbers=numbers
        )
        if reader is not None and not any(isinstance(pair, FileNeighbours) for pair in chosen):
            raise ParameterError(
                "--reader must be used with a pair of files, such as --pairs open-quote."
            )
        if data is not None and neighbour is not None and schema is not None:
            chosen = [_read_audit_pair(data, neighbour, str(target), schema, unit, csv)]
        usable = [pair for pair in chosen if audited.supports(pair.schema)]
        if not usable:
            raise ParameterError(
                f"{method} must support the columns, and the classes or the numeric target, of "
                "these tables. Choose other --pairs or another method."
            )
        report = audit_learner(
            lambda pair: audited.learner(
                Training(pair.schema, epsilon, pair.max_depth or max_depth, seed)
            ),
            [pair.encoded(audited.encode) for pair in usable],
            runs=runs,
            confidence=confidence,
            claimed=epsilon if audited.private else None,
            delta=audited.delta,
            n_jobs=jobs,
        )
    left_out = [*report.skipped, *(pair.name for pair in chosen if pair not in usable)]
    summary = {"method": method, **report.to_dict(), "skipped": left_out}
    if output is not None:
        write_output(output, f"{json.dumps(summary, indent=1)}\n", private=data is not None)
    if as_json:
        print_json(summary)
    else:
        print_text(str(report))
        if left_out:
            typer.echo(f"Pairs that do not apply to this method: {', '.join(left_out)}.")
        if output is not None:
            print_text(f"Saved {output}.")


def _choose_audit_reader(name: str | None, method: Any) -> Any:
    from privatree.audit.pairs import SOURCE_READERS, chosen_reader

    if name is None:
        name = "memory" if method.takes_sources else "table"
    found = chosen_reader(name)
    if name in SOURCE_READERS and not method.takes_sources:
        raise ParameterError(
            f"--reader must be table, because {method.id} cannot read files, got {name!r}."
        )
    return found


def _read_audit_pair(
    first: Path, second: Path, target: str, schema: Path, unit: str | None, csv: CsvOptions
) -> Any:
    import numpy as np

    from privatree.audit import own_pair
    from privatree.schema import Schema
    from privatree.sources import find_files, read_files
    from privatree.tables import read_arrow_column, read_unit_ids

    files = [*find_files([str(first)]), *find_files([str(second)])]
    csv.check_with_files(files)
    declared = csv.schema_with_dialect(schema_with_unit(Schema.from_toml(schema), unit))
    tables = []
    for file in files:
        records = read_files([file], declared, target, allow_ragged=True, with_units=True)
        labels, features = records.labels.to_pandas(), records.features.to_pandas()
        known = labels.notna().to_numpy()  # a record without a known label is left out of training
        if declared.unit is not None:  # as text: whole numbers of pandas cannot be missing
            features[declared.unit] = records.units.cast("string").to_pandas()
            known = known & (read_unit_ids(read_arrow_column(records.units)).places >= 0)
        tables.append((features[known], np.asarray(labels[known])))
    return own_pair(declared, *tables)
