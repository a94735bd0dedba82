"""What a notebook shows of a model and of a classifier."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.utils import estimator_html_repr

from privatree import Categorical, Model, Numeric, PrivaTreeClassifier, Schema, export_text
from privatree.export import notebook_html
from privatree.export._notebook import MAX_CHARACTERS, MAX_LINES
from privatree.model import TreeBuilder
from privatree.privacy import PrivacyStatement

HOSTILE = "</pre><script>alert(1)</script><img src=x onerror='alert(1)'>&\"\u202e"


class Fragment(HTMLParser):
    """Which tags there are, whether each is closed, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags, self.open, self.text = set[str](), list[str](), ""
        self.attributes = set[str]()
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def hostile_model(learner: str = HOSTILE) -> Model:
    schema = Schema({HOSTILE: Categorical([HOSTILE, "b"])}, ["no", HOSTILE])
    builder = TreeBuilder(schema)
    for node, label in zip(builder.split_categories(builder.root, 0, [0]), (0, 1), strict=True):
        builder.leaf(node, label)
    lone = f"{HOSTILE}\ud800"  # a schema refuses what has no UTF-8, a statement does not
    statement = PrivacyStatement(learner, 1.0, notes=(lone,), public=(lone,))
    return Model(schema, builder.build(), statement)


def deep_model() -> Model:
    """A chain of as many questions as there are lines, about a name that is too long for one."""
    name = "n" * 2 * MAX_CHARACTERS
    builder = TreeBuilder(Schema({name: Numeric(0, 1)}, ["no", "yes"]))
    node = builder.root
    for level in range(MAX_LINES):
        end, node = builder.split_numeric(node, 0, level / MAX_LINES)
        builder.leaf(end, 0)
    builder.leaf(node, 1)
    return Model(builder.build().schema, builder.build(), PrivacyStatement("by hand", 1.0))


def test_it_shows_the_tree_and_the_statement() -> None:
    builder = TreeBuilder(Schema({"age": Numeric(0, 90, integer=True)}, ["no", "yes"]))
    for node, label in zip(builder.split_numeric(builder.root, 0, 37.0), (0, 1), strict=True):
        builder.leaf(node, label)
    model = Model(builder.build().schema, builder.build(), PrivacyStatement("by hand", 0.5))
    shown = Fragment(model._repr_html_() or "")
    assert export_text(model) in shown.text
    assert str(model.privacy_) in shown.text
    assert repr(model) == (
        "<Model: a tree by by hand, epsilon 0.5, 1 features, 2 classes, depth 1, 2 leaves>"
    )
    assert repr(model)[1:-1] in shown.text
    assert shown.tags == {"div", "details", "summary", "pre"}
    assert shown.attributes == {"style", "open"}


def test_names_cannot_become_markup() -> None:
    html = notebook_html(hostile_model())
    shown = Fragment(html)
    assert shown.tags == {"div", "details", "summary", "pre"}
    assert shown.attributes == {"style", "open"}
    assert "<script>alert(1)</script>" in shown.text
    assert html.isascii() or all(c.isprintable() or c == "\n" for c in html)
    html.encode("utf-8")


def test_a_long_learner_is_cut_in_one_line() -> None:
    text = repr(hostile_model("x\n" * 5000))
    assert len(text) < 200
    assert "\n" not in text


def test_a_large_tree_is_cut() -> None:
    shown = Fragment(notebook_html(deep_model()))
    lines = shown.text.splitlines()
    assert f"… and {MAX_LINES + 1} more lines. print(privatree.export_text(model))" in shown.text
    assert max(map(len, lines)) < MAX_CHARACTERS + 100
    assert len(lines) < MAX_LINES + 40


# --- what IPython asks for ------------------------------------------------------------------------

SCHEMA = Schema({"a": Numeric(0, 1)}, ["no", "yes"])
FRAME = pd.DataFrame({"a": np.linspace(0, 1, 100)})


def test_a_classifier_shows_its_parameters_and_once_trained_its_tree() -> None:
    model = PrivaTreeClassifier(5.0, max_depth=1, schema=SCHEMA, random_state=0)
    assert "Privacy statement" not in model._repr_mimebundle_()["text/html"]
    assert "PrivaTreeClassifier" in model._repr_mimebundle_()["text/html"]
    model.fit(FRAME, np.where(FRAME["a"] > 0.5, "yes", "no"))
    bundle = model._repr_mimebundle_(include=None, exclude=None)
    assert bundle["text/plain"] == repr(model)
    assert bundle["text/html"].endswith(notebook_html(model.model_))
    assert len(bundle["text/html"]) > len(notebook_html(model.model_)) + 1000
    assert "Privacy statement" not in estimator_html_repr(model)


@pytest.mark.parametrize("of", ["classifier", "model"])
def test_scikit_learns_setting_decides(of: str) -> None:
    shown: Any = PrivaTreeClassifier(5.0, schema=SCHEMA) if of == "classifier" else deep_model()
    assert shown._repr_html_()
    with config_context(display="text"):
        assert shown._repr_html_() is None
        assert shown._repr_mimebundle_() == {"text/plain": repr(shown)}


def test_the_repr_of_a_classifier_is_readable_with_a_large_schema() -> None:
    schema = Schema({f"column {n}": Numeric(0, 9) for n in range(100)}, list(range(50)))
    assert repr(schema) == (
        "Schema(features={'column 0': Numeric, 'column 1': Numeric, 'column 2': Numeric, "
        "'column 3': Numeric, 'column 4': Numeric, 'column 5': Numeric, … 94 more}, "
        "classes=[0, 1, 2, 3, 4, 5, … 44 more])"
    )
    assert repr(schema) in repr(PrivaTreeClassifier(1.0, schema=schema))
    assert repr(SCHEMA.all_unconfirmed()) == (
        "Schema(features={'a': Numeric}, classes=['no', 'yes'], some of it unconfirmed)"
    )


def test_a_leaf_without_support_is_grey(counted_tree) -> None:
    statement = PrivacyStatement(
        "by hand", 1.0, notes=("predict no, few or no records, not really",)
    )
    html = notebook_html(Model(counted_tree.schema, counted_tree, statement))
    grey = re.findall(r'<span style="color:#808080">(.*?)</span>', html, re.S)
    assert grey == ["predict yes (no 25.0%, yes 75.0%), few or no records"]
    assert Fragment(html).text.count("few or no records") == 2
