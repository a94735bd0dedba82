"""``privatree report``: a saved model as one page for a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from privatree.cli._output import check_output, write_output
from privatree.cli._spinner import waiting
from privatree.cli.commands._show import Model
from privatree.errors import ParameterError


def report(
    model: Model,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The HTML file to write.")
    ],
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="An accuracy certificate of the same learner, as privatree certify -o writes it. "
            "It is not private: a page with it says so, and is for your own eyes.",
        ),
    ] = None,
) -> None:
    """Write one HTML page about a saved MODEL, to look at, print or send.

    The page shows the tree, which one can follow by typing in values; its rules as sentences; what
    epsilon promises a person and where it was spent; what was assumed public; and what accuracy
    is certain if training records were poisoned. It is a single file that works offline and asks
    no server for anything.

    It is built from the model file alone, so it reveals no more than the model does, unless a
    certificate is added.

    Example: privatree report model.json -o report.html
    """
    inputs = [model] if certificate is None else [model, certificate]
    check_output(output, inputs)
    is_file = output.is_file() or not output.exists()  # not a device or a pipe
    if is_file and output.suffix.lower() not in (".html", ".htm"):
        raise ParameterError(f"{output}: the name of a page must end in .html.")

    from privatree.model import read_release
    from privatree.report import html_report

    loaded = read_release(model)
    if certificate is None:
        _mention_certificate_beside(model)
    with waiting("Writing the page"):
        page = html_report(loaded, None if certificate is None else _loaded(certificate))
    write_output(output, page, private=certificate is not None)
    typer.echo(f"Wrote {output}. Open it in a browser.", err=True)


def _loaded(certificate: Path) -> Any:
    from privatree.robustness import AccuracyCertificate

    return AccuracyCertificate.load(certificate)


def _mention_certificate_beside(model: Path) -> None:
    beside = model.with_name(f"{model.stem}.certificate.json")
    if beside.is_file():
        typer.echo(
            f"{beside} was left out: a certificate is not private. To include it, add "
            f"--certificate {beside}.",
            err=True,
        )
