"""``privatree audit``: lower bounds on the real epsilon of a method, with confidence."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from privatree.cli._csv_options import CsvOptions, csv_options
from privatree.cli._output import check_output, say, write_output
from privatree.errors import ParameterError


@csv_options
def audit(
    method: Annotated[
        str,
        typer.Argument(
            metavar="METHOD",
            help="What to audit: privatree, privatree-robust, privatree-paper, privatree-star, "
            "bdpt, dpgdf, random-tree, diffprivlib-tree, diffprivlib-forest, "
            "diffprivlib-logistic, dp-ebm; or, without any privacy, decision-tree and dpa.",
        ),
    ],
    epsilon: Annotated[
        float, typer.Option(metavar="E", help="The privacy budget that it is given.")
    ],
    runs: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Trainings of each table; purity takes four times, many-features 24 times "
            "as many. With N, a bound cannot be much above log(N / 8).",
        ),
    ] = 1000,
    pairs: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="Only these pairs of tables: purity, many-features, new-class, new-category, "
            "outlier, size-threshold, category-order, three-records, first-row, part-sizes, "
            "no-records; or of files: open-quote, quoted-newline, odd-bytes, text-in-numbers, "
            "new-values, ragged-line, long-line, odd-folder.",
        ),
    ] = None,
    reader: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How the pairs of files are read. memory, stream: as fit --engine does (privatree "
            "and privatree-robust only). table: into a frame (all methods). multiline, pandas, "
            "pyarrow: readers that fail, for comparison. Otherwise memory, or table for methods "
            "that take no files.",
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A dataset of your own instead of those pairs: CSV, Parquet or Excel.",
        ),
    ] = None,
    neighbour: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The same table with one record more, less or replaced by another."
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column to predict, in tables of your own."),
    ] = None,
    schema: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="TOML file of what is public about tables of your own."),
    ] = None,
    max_depth: Annotated[
        int, typer.Option(metavar="N", help="Depth of a tree where the pair does not ask for one.")
    ] = 4,
    confidence: Annotated[
        float,
        typer.Option(help="Probability that all bounds hold together, over the noise: at least."),
    ] = 0.99,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Makes the trainings repeatable. Without it, as in real use, the noise comes "
            "from the operating system."
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(metavar="N", help="Processes at a time.")] = max(
        1, os.cpu_count() or 1
    ),
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Also save the report to this JSON file."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the report as JSON, and nothing else.")
    ] = False,
    *,
    csv: CsvOptions,
) -> None:
    """Try to prove a method wrong: bound its real epsilon from below, by training it.

    A private method hardly tells two tables apart that differ in one record. The method is trained
    many times on both, and the report says by which event of its models they can be told apart
    best, in words, and what epsilon this is evidence of. A bound above the claimed epsilon proves
    the claim false; a bound below it proves nothing. Each pair looks for one mistake that
    published methods make. Some are files that differ in one line: there the reader is audited
    together with the method.

    By default this takes some minutes; --runs 100 gives a first look in a fraction of that. The
    exit code is 0 whatever was found.

    The libraries of others come with the extra "bench" of this package, best installed in an
    environment of its own.

    Example: privatree audit privatree-paper --epsilon 1

    Example: privatree audit privatree --epsilon 1 --data a.csv --neighbour b.csv --target outcome
    --schema schema.toml
    """
    if csv.given and data is None:
        raise ParameterError(f"--{min(csv.given)} must be used with --data.")
    own = (data, neighbour, target, schema)
    if any(given is not None for given in own) and None in own:
        raise ParameterError(
            "--data, --neighbour, --target and --schema must be given together: they are a pair of "
            "tables of your own."
        )
    if data is not None and (pairs, reader) != (None, None):
        option = "--pairs" if reader is None else "--reader"
        raise ParameterError(f"{option} and --data exclude each other. Leave out one.")
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
    from privatree.cli._learner_options import named_as_options
    from privatree.estimators import MAX_DEPTH, check_epsilon
    from privatree.repetition import check_confidence

    audited = methods.get(method)
    if audited.missing is not None:
        raise ParameterError(
            f"{audited.missing}. Install it with: pip install 'privatree[bench]', best in an "
            "environment of its own."
        )
    with named_as_options(("epsilon", "max_depth", "confidence", "runs", "pairs", "reader")):
        check_epsilon(epsilon)
        check_integer("max_depth", max_depth, 1, MAX_DEPTH)
        check_confidence(confidence)
        names = None if pairs is None else [name.strip() for name in pairs.split(",")]
        chosen = chosen_pairs(names, epsilon, read=_reader(reader, audited))
        if reader is not None and not any(isinstance(pair, FileNeighbours) for pair in chosen):
            raise ParameterError("--reader must go with a pair of files, such as open-quote.")
        if data is not None and neighbour is not None and schema is not None:
            chosen = [_own_pair(data, neighbour, str(target), schema, csv)]
        usable = [pair for pair in chosen if audited.applies_to(pair.schema)]
        if not usable:
            raise ParameterError(f"{method} cannot be trained on any of these pairs of tables.")
        report = audit_learner(
            _learner(audited, epsilon, max_depth, seed),
            [pair.encoded(audited.encode) for pair in usable],
            runs=runs,
            confidence=confidence,
            claimed=epsilon if audited.private else None,
            delta=audited.delta,
            n_jobs=jobs,
        )
    left_out = [*report.skipped, *(pair.name for pair in chosen if pair not in usable)]
    summary = {"method": method, **report.to_dict(), "skipped": left_out}
    written = json.dumps(summary, indent=1)
    if output is not None:
        write_output(output, written + "\n", private=data is not None)
    if as_json:
        write_output(None, f"{written}\n", form="json")
    else:
        say(str(report))
        if left_out:
            typer.echo(f"Not for a method of this kind: {', '.join(left_out)}.")
        if output is not None:
            say(f"Saved {output}.")


def _reader(name: str | None, method: Any) -> Any:
    from privatree.audit.pairs import SOURCE_READERS, chosen_reader

    if name is None:
        name = "memory" if method.takes_sources else "table"
    found = chosen_reader(name)
    if name in SOURCE_READERS and not method.takes_sources:
        raise ParameterError(
            f"--reader must give a table to {method.id}, which takes no files, got {name!r}. "
            "Choose table."
        )
    return found


def _learner(method: Any, epsilon: float, max_depth: int, seed: int | None) -> Callable[[Any], Any]:
    from privatree.baselines.methods import Training

    return lambda pair: method.classifier(
        Training(pair.schema, epsilon, pair.max_depth or max_depth, seed)
    )


def _own_pair(first: Path, second: Path, target: str, schema: Path, csv: CsvOptions) -> Any:
    """The two tables, read by the schema."""
    import numpy as np

    from privatree.audit import own_pair
    from privatree.schema import Schema
    from privatree.sources import find_files, read_files

    files = [*find_files([str(first)]), *find_files([str(second)])]
    csv.check(files)
    declared = csv.declared_in(Schema.from_toml(schema))
    tables = []
    for file in files:
        records = read_files([file], declared, target, allow_ragged=True)
        labels = records.labels.to_pandas()
        known = labels.notna().to_numpy()  # a record without a known label is left out of training
        tables.append((records.features.to_pandas()[known], np.asarray(labels[known])))
    return own_pair(declared, *tables)
