"""The report page: one HTML file that makes no requests and runs no code from a model."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from privatree import __version__
from privatree._support.extras import missing_extra
from privatree.model import TreeRelease, released_any
from privatree.report import _citation as citation
from privatree.report._summary import MAX_FIELDS
from privatree.report.ensemble import ensemble_page
from privatree.report.scores import scores_section
from privatree.report.tree import tree_page

if TYPE_CHECKING:
    from jinja2 import Template

_SCRIPTS = {
    "tree": ("drawing", "record"),
    "ensemble": ("terms", "charts", "grid", "record"),
}
"""The files of a page's own script, in their order."""
_SCRIPT_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&"}


def html_report(model: Any, certificate: Any = None, *, scores: Any = None) -> str:
    """Write one self-contained HTML page about a model.

    Parameters
    ----------
    model : model or fitted learner
        Model to report on. The page reveals no more than the model.
    certificate : AccuracyCertificate or ErrorCertificate, optional
        Certificate of the learner that made the model. A certificate is computed from the records
        without privacy, so a page with a certificate is **not private**, and the page says so.
    scores : PrivateScores, optional
        Scores of the model, from :func:`privatree.evaluation.private_scores`. They are private: the
        page can still be published. By default, they are the scores that the model itself has.

    Returns
    -------
    str
        Text of an HTML file that makes no requests and works offline.

    Raises
    ------
    ParameterError
        If jinja2 is not installed, the certificate is from another learner, or the scores are of
        another model.

    Examples
    --------
    >>> from privatree import PrivaTreeClassifier, datasets
    >>> X, y, schema = datasets.load("breast-w")
    >>> model = PrivaTreeClassifier(epsilon=1, max_depth=1, schema=schema, random_state=0)
    >>> page = html_report(model.fit(X, y))
    >>> page.startswith("<!doctype html>"), "Cell_Shape_Uniformity is at most 3" in page
    (True, True)
    """
    released = released_any(model)
    if isinstance(released, TreeRelease):
        page = tree_page(released, certificate)
    else:
        page = ensemble_page(released, certificate)
    scores = getattr(model, "scores_", None) if scores is None else scores
    kind = page.summary.noun
    script = _html_script(kind)
    return _html_page_template(kind).render(
        {kind: page.own},
        page=page.summary,
        scores=scores_section(scores, released.schema_),
        words=page.summary.privacy.words,
        version=__version__,
        cite=citation,
        style=_read_html_parts("shared/style.css", f"{kind}/{kind}.css"),
        script=script,
        script_hash=_html_script_hash(script),
        data=json_for_html_script(page.data),
        most_fields=MAX_FIELDS,
    )


def json_for_html_script(data: Any) -> str:
    """Return data as ASCII JSON that cannot end the script tag around it."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.translate(_SCRIPT_ESCAPES)


@cache
def _html_page_template(kind: str) -> Template:
    """Return the template, which escapes values and raises an error for unknown names."""
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
    except ImportError as error:
        raise missing_extra("reports need jinja2", "cli") from error

    environment = Environment(
        loader=FunctionLoader(_read_html_template),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["thousands"] = "{:,}".format
    return environment.get_template(f"{kind}/{kind}.html")


def _html_script(kind: str) -> str:
    """Return the script of a page: one function, from what all pages share and what is its own."""
    own = [f"{kind}/{name}.js" for name in _SCRIPTS[kind]]
    parts = _read_html_parts("shared/frame.js", "shared/form.js", *own, "shared/poison.js")
    return f'"use strict";\n(function () {{\n{parts}}})();\n'


def _read_html_parts(*names: str) -> str:
    return "\n".join(map(_read_html_template, names))


def _read_html_template(name: str) -> str:
    return files("privatree.report").joinpath("templates", name).read_text(encoding="utf-8")


def _html_script_hash(script: str) -> str:
    """Return the hash by which the content security policy allows this script only."""
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
