"""A released tree in other forms. Nothing is read but what was released.

::

    text.py            lines of text
    rule_sentences.py  one sentence for each leaf
    dot.py             a graph for Graphviz
    plot.py            a drawing with matplotlib (tree_layout.py: where its boxes stand)
    budget_plot.py     the privacy budget as bars (budget_path.py: where most was spent)
    model_json.py      the text of the model file
    sql.py             one CASE expression (sql_conditions.py, sql_names.py: its parts;
                       sql_dialects.py: what each database writes in its own way;
                       sql_dialect.py: what there is to say of one; sql_numbers.py: doubles)
    onnx_graph.py      an ONNX model
    sklearn_view.py    a trained tree of scikit-learn, for its own functions and for SHAP
                       (float32.py: numbers that it cannot round across a threshold)
    notebook.py        a model as HTML for a notebook
    reading.py         what they all read of a model

Names are loaded when they are first used. No file is called like a function in it, whose place it
would take.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privatree.export.budget_plot import plot_budget
    from privatree.export.dot import export_dot
    from privatree.export.model_json import export_json
    from privatree.export.onnx_graph import export_onnx
    from privatree.export.plot import plot_tree
    from privatree.export.rule_sentences import Rule, rules
    from privatree.export.sklearn_view import SklearnView, as_sklearn
    from privatree.export.sql import export_sql
    from privatree.export.text import export_text

__all__ = [
    "Rule",
    "SklearnView",
    "as_sklearn",
    "export_dot",
    "export_json",
    "export_onnx",
    "export_sql",
    "export_text",
    "plot_budget",
    "plot_tree",
    "rules",
]

_HOME = {
    "Rule": "rule_sentences",
    "SklearnView": "sklearn_view",
    "as_sklearn": "sklearn_view",
    "export_dot": "dot",
    "export_json": "model_json",
    "export_onnx": "onnx_graph",
    "export_sql": "sql",
    "export_text": "text",
    "plot_budget": "budget_plot",
    "plot_tree": "plot",
    "rules": "rule_sentences",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"privatree.export.{_HOME[name]}"), name)
    raise AttributeError(f"module 'privatree.export' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
