"""Nothing of the records is in a report page, a model card, an export or a picture."""

from __future__ import annotations

import io
import re
import warnings
from typing import Any

import pytest

from privatree import PrivaTreeClassifier
from privatree.export import (
    as_sklearn,
    export_dot,
    export_json,
    export_onnx,
    export_sql,
    export_text,
    plot_budget,
    plot_tree,
    rules,
)
from privatree.report import html_report, model_card

_HASH = re.compile(r"[0-9a-f]{64}")
"""The fingerprint of the model: of what the page says anyway."""


_BOUNDS = re.compile(r'"certificate":\{.*?\}(?=\}</script>)')
"""The table of bounds: thousands of figures that follow from the schedule alone (see below)."""


def _picture(draw: Any, model: Any) -> str:
    from matplotlib import pyplot

    axes, written = draw(model), io.StringIO()
    axes.figure.savefig(written, format="svg")
    pyplot.close(axes.figure)
    texts = re.findall(r"<!--(.*?)-->|<text[^>]*>(.*?)</text>", written.getvalue(), re.DOTALL)
    return "\n".join(text for pair in texts for text in pair)


@pytest.fixture(scope="module", params=["labels only", "noisy counts"])
def model(request: pytest.FixtureRequest, private_records: Any) -> Any:
    how: dict[str, Any] = {
        "labels only": {"probability_share": 0},
        "noisy counts": {"probability_share": 0.001},  # seldom equal to the exact ones
    }[request.param]
    learner = PrivaTreeClassifier(
        2.0, schema=private_records.schema, max_depth=5, random_state=0, **how
    )
    return learner.fit(private_records.frame, private_records.labels)


@pytest.fixture(scope="module")
def secret(model: Any, private_records: Any) -> Any:
    return private_records.with_leaves(model.apply(private_records.frame))


FORMS = {
    "report page": lambda m: _BOUNDS.sub("", _HASH.sub("", html_report(m))),
    "card": lambda m: _HASH.sub("", model_card(m)),
    "text": export_text,
    "dot": export_dot,
    "json": export_json,
    "sql": lambda m: export_sql(m, table="people", proba=True),
    "rules": lambda m: "\n".join(rule.sentence for rule in rules(m)),
    "tree plot": lambda m: _picture(plot_tree, m),
    "budget plot": lambda m: _picture(plot_budget, m),
}


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_nothing_of_the_records_is_in_an_export(model: Any, secret: Any, form: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        written = FORMS[form](model)
    assert secret.in_text(written) == set()


@pytest.mark.slow
def test_nothing_of_the_records_is_in_onnx(model: Any, secret: Any) -> None:
    assert secret.in_bytes(export_onnx(model)) == set()


@pytest.mark.slow
def test_nothing_of_the_records_is_in_a_view(model: Any, secret: Any, private_records: Any) -> None:
    view = as_sklearn(model)
    view.predict(view.transform(private_records.frame))
    assert secret.in_object([view, view.tree_.__reduce__()]) == set()
    assert secret.in_pickle(view) == set()


@pytest.mark.slow
def test_a_page_that_leaks_would_be_caught(model: Any, secret: Any, private_records: Any) -> None:
    leaky = html_report(model) + f"<p>{len(private_records.frame):,} records</p>"
    assert secret.in_text(_BOUNDS.sub("", _HASH.sub("", leaky))) == {"number of records"}


def test_the_bounds_of_a_page_follow_from_the_statement(private_records: Any) -> None:
    """So that they need not be searched: other records, the same table."""
    learner = PrivaTreeClassifier(2.0, schema=private_records.schema, max_depth=3, random_state=0)
    tables = []
    for part in (slice(None, 1000), slice(None, None)):
        fitted = learner.fit(private_records.frame[part], private_records.labels[part])
        (table,) = _BOUNDS.findall(html_report(fitted))
        tables.append(table)
    assert tables[0] == tables[1]
