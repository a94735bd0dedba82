"""The page as one HTML text: it asks for nothing else, and runs nothing of what is in a model."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from privatree._support.extras import missing_extra
from privatree.report import _citation as citation
from privatree.report._summary import MAX_FIELDS, MAX_RULES, summary

if TYPE_CHECKING:
    from jinja2 import Template

_UNSAFE_IN_A_SCRIPT = {ord(c): f"\\u{ord(c):04x}" for c in "<>&"}


def html_report(model: Any, certificate: Any = None) -> str:
    """Write one self-contained HTML page about a model.

    Parameters
    ----------
    model : Model or fitted classifier
        What was released. Nothing else is read, so that the page reveals no more than the model.
    certificate : AccuracyCertificate, optional
        Of the learner that made the model. It was computed from the records without privacy, so
        that a page with it is **not private**; the page says so.

    Returns
    -------
    str
        The text of an HTML file that makes no requests and works offline.

    Raises
    ------
    ParameterError
        If jinja2 is not installed, or the certificate is not of the learner that made the model.
    """
    shown = summary(model, certificate)
    script = _file("page.js")
    return _template().render(
        page=shown,
        cite=citation,
        style=_file("style.css"),
        script=script,
        script_hash=_hash(script),
        data=script_json(shown.data),
        most_rules=MAX_RULES,
        most_fields=MAX_FIELDS,
    )


def script_json(data: Any) -> str:
    """JSON that may stand between script tags: nothing in it can end them, or is not ASCII."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.translate(_UNSAFE_IN_A_SCRIPT)


@cache
def _template() -> Template:
    """Compiled once. Whatever is filled in is escaped; a name that is not there is an error."""
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError as error:
        raise missing_extra("reports need jinja2", "cli") from error

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["thousands"] = "{:,}".format
    return environment.from_string(_file("page.html"))


def _file(name: str) -> str:
    return files("privatree.report").joinpath("templates", name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    """As a content security policy names the one script that may run."""
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
