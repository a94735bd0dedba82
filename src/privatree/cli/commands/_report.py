"""``privatree report``: write an HTML page about a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privatree.cli._output import check_output, output_option, show_spinner, write_output
from privatree.cli.commands._show import Model
from privatree.errors import ParameterError


def report(
    model: Model,
    output: Annotated[Path, output_option("HTML file to write.")],
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Certificate of the accuracy, or of the error, of the same learner, written by "
            "privatree certify -o. A certificate is not private: the page says so, and is not for "
            "publication.",
        ),
    ] = None,
    scores: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Private scores of the model, written by privatree score -o. The page shows how "
            "good the model is, and can still be published.",
        ),
    ] = None,
) -> None:
    """Write an HTML page about a saved MODEL, to view, print or send.

    The page shows the tree and its rules as sentences, or a chart of each term of an ensemble, and
    predicts the label, or the number, for values that you enter. It explains what epsilon
    guarantees and what epsilon was spent on, and what is assumed to be public. Folded away, or open
    with a certificate, is which accuracy, or error, is certain if training records were poisoned.
    The page is one file that works offline and contacts no server.

    With --scores, it shows how good the model is, with intervals.

    The page is built from the model file and from private scores alone, so it reveals no more than
    these, unless you add a certificate.

    Example: privatree report model.json -o report.html
    """
    inputs = [model, *(path for path in (certificate, scores) if path is not None)]
    check_output(output, inputs)
    is_file = output.is_file() or not output.exists()  # not a device or a pipe
    if is_file and output.suffix.lower() not in (".html", ".htm"):
        raise ParameterError(f"{output}: the name must end in .html. Choose another name.")

    from privatree.evaluation import PrivateScores
    from privatree.model import read_release
    from privatree.report import html_report
    from privatree.robustness import AccuracyCertificate, ErrorCertificate

    loaded = read_release(model)
    if certificate is None:
        _mention_certificate_for_report(model)
    with show_spinner("Writing the page"):
        kind = AccuracyCertificate if loaded.schema_.target is None else ErrorCertificate
        added = None if certificate is None else kind.load(certificate)
        page = html_report(
            loaded, added, scores=None if scores is None else PrivateScores.load(scores)
        )
    write_output(output, page, private=certificate is not None)
    typer.echo(f"Wrote {output}. Open it in a browser.", err=True)


def _mention_certificate_for_report(model: Path) -> None:
    """Say on stderr that a certificate in the folder of the model was left out."""
    found = model.with_name(f"{model.stem}.certificate.json")
    if found.is_file():
        typer.echo(
            f"{found} was left out: a certificate is not private. To include it, add "
            f"--certificate {found}.",
            err=True,
        )
