"""Models that the tests of the report share, trained once, and a browser, started once."""

from __future__ import annotations

import os
import random
import shutil
import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from privatree import (
    Model,
    PaperPrivaTreeClassifier,
    PrivaTreeClassifier,
    PrivaTreeRegressor,
    RegressionModel,
    datasets,
)
from privatree.errors import PaperClaimWarning
from privatree.model import TreeBuilder
from privatree.privacy import PrivacyStatement
from privatree.report import html_report
from privatree.schema import Categorical, Numeric, Schema, Target

HOSTILE = [
    "</script><script>window.hacked=1</script>",
    '"><img src=x onerror="window.hacked=1">',
    "{{ 7*7 }}{% raw %}",
    "' onfocus=window.hacked=1 autofocus x='",
    "\u202edesrever \u2028 line",
    "مرحبا",
    "&lt;b&gt;",
    "\\u003c/script\\u003e ]]> <!--",
    "__proto__",
]


@pytest.fixture(scope="session")
def hostile() -> list[str]:
    return HOSTILE


@pytest.fixture(scope="session")
def adult_model() -> Model:
    frame, labels, schema = datasets.load("adult")
    learner = PrivaTreeClassifier(0.1, schema=schema, random_state=3, probability_share=0.2)
    return learner.fit(frame, labels).model_


@pytest.fixture(scope="session")
def hours_model() -> RegressionModel:
    """It predicts a whole number; every leaf has a distribution."""
    frame, _, schema = datasets.load("adult")
    hours = frame.pop("hours-per-week")
    target = Target(0, 100, integer=True, name="hours-per-week")
    schema = Schema({name: schema.features[name] for name in frame}, target=target)
    return PrivaTreeRegressor(1.0, schema=schema, random_state=0).fit(frame, hours).model_


@pytest.fixture(scope="session")
def paper_model() -> Model:
    frame, labels, schema = datasets.load("breast-w")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PaperClaimWarning)
        learner = PaperPrivaTreeClassifier(1.0, max_depth=3, schema=schema, random_state=0)
        return learner.fit(frame, labels).model_


@pytest.fixture(scope="session")
def hand_made() -> Callable[..., Model]:
    """A tree of three classes by numbers and categories, with whatever statement is wanted."""

    def make(**statement: object) -> Model:
        schema = Schema(
            {
                "size": Numeric(-2.5, 7.25, missing=1.0),
                "age": Numeric(0, 120, integer=True),
                "ward": Categorical(["surgery", "maternity", "other"], missing="other"),
                "unused": Categorical([True, False]),
            },
            ["low", "middle", "high"],
        )
        builder = TreeBuilder(schema)
        small, large = builder.split_numeric(builder.root, 0, 0.1 + 0.2)
        young, old = builder.split_numeric(small, 1, 64.0)
        here, there = builder.split_categories(large, 2, [0, 2])
        far, near = builder.split_numeric(there, 0, 3.3)
        for leaf, label in ((young, 0), (old, 1), (here, 2), (far, 0), (near, 2)):
            shares = [0.125, 0.125, 0.125]
            shares[label] = 0.75
            builder.leaf(leaf, label, shares)
        tree = builder.build()
        given = {"learner": "by hand", "epsilon": 0.5, "public": ("the schema",)} | statement
        return Model(schema, tree, PrivacyStatement(**given))  # type: ignore[arg-type]

    return make


NUMBER_FEATURES = {
    "size": Numeric(-2.5, 7.25, missing="separate"),
    "ward": Categorical(["surgery", "maternity", "other"], missing="other"),
}
SHARES = ([0.2, 0.5, 0.25, 0.05], [0.0, 0.1, 0.6, 0.3], [0.25, 0.25, 0.25, 0.25])


@pytest.fixture(scope="session")
def hand_made_number() -> Callable[..., RegressionModel]:
    """A tree of three leaves with numbers, of which the last one has few or no records."""

    def make(target: Target | None = None, **statement: object) -> RegressionModel:
        schema = Schema(NUMBER_FEATURES, target=target or Target(0, 60, name="days"))
        builder = TreeBuilder(schema)
        small, large = builder.split_numeric(builder.root, 0, 0.1 + 0.2)
        here, there = builder.split_categories(large, 1, [0, 2])
        leaves = ((small, 2.5, 312), (here, 40 / 3, 155), (there, 30.0, 5))
        for (leaf, value, noisy), shares in zip(leaves, SHARES, strict=True):
            builder.value_leaf(leaf, value, noisy, 20, shares)
        tree = builder.build(edges=[0.0, 2.25, 10.0, 20.5, 60.0])
        given = {"learner": "by hand", "epsilon": 0.5, "public": ("the schema",)} | statement
        return RegressionModel(schema, tree, PrivacyStatement(**given))  # type: ignore[arg-type]

    return make


@pytest.fixture(scope="session")
def hostile_number(number_tree, hostile_model: Model) -> RegressionModel:
    """The same for a number, and the name of its column tries it, too."""
    target = Target(0, 60, name=HOSTILE[0])
    tree = number_tree(hostile_model.tree_, random.Random(0), target)
    return RegressionModel(tree.schema, tree, hostile_model.privacy_)


@pytest.fixture(scope="session")
def hostile_model() -> Model:
    """Every name and text tries to get out of the place where it is shown."""
    schema = Schema(
        {name: Numeric(0, 1) for name in HOSTILE} | {"kind": Categorical(HOSTILE)}, HOSTILE
    )
    builder = TreeBuilder(schema)
    node = builder.root
    for place in range(len(HOSTILE)):
        leaf, node = builder.split_numeric(node, place, 0.5)
        builder.leaf(leaf, place)
    left, right = builder.split_categories(node, len(HOSTILE), [0, 1, 2])
    builder.leaf(left, 0)
    builder.leaf(right, 1)
    tree = builder.build()
    statement = PrivacyStatement(
        learner=HOSTILE[0], epsilon=1.0, public=tuple(HOSTILE), notes=tuple(HOSTILE)
    )
    return Model(schema, tree, statement)


@pytest.fixture(scope="session")
def unit_model() -> Model:
    """A model whose epsilon is for patients with several records."""
    frame, labels, schema = datasets.load("breast-w")
    frame = frame.assign(patient_id=np.arange(len(frame)) // 2)
    learner = PrivaTreeClassifier(
        1.0, max_depth=2, schema=replace(schema, unit="patient_id"), random_state=0
    )
    model = learner.fit(frame, labels).model_
    return Model(model.schema_, model.tree_, replace(model.privacy_, seeded=False))


# --- the browser ----------------------------------------------------------------------------------

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE = 600_000  # milliseconds, on a busy machine
NAMES = ("chromium", "chromium-browser", "google-chrome")


def chromium():
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None and os.environ.get("CI") == "true":
        pytest.fail("there is no Chromium: apt-get install chromium, or set CHROMIUM to its path.")
    if found is None:
        pytest.skip("there is no Chromium: apt-get install chromium, or set CHROMIUM to its path.")
    return found


@pytest.fixture(scope="session")
def browser():
    path = chromium()
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=path, args=list(ARGUMENTS), timeout=PATIENCE
        )
        yield started
        started.close()


@pytest.fixture(scope="session")
def tab(browser):
    """One for all tests: to start another takes longer than most of them."""
    page = browser.new_context(reduced_motion="reduce").new_page()
    page.set_default_timeout(PATIENCE)
    return page


@pytest.fixture
def open_page(tab, tmp_path):
    """Opens the report of a model; in the end there was no error and no request but the file."""
    opened, mistakes, requests = [], [], []
    heard = {
        "console": lambda message: mistakes.append(message.text),
        "pageerror": lambda error: mistakes.append(str(error)),
        "request": lambda request: requests.append(request.url),
    }
    for event, listener in heard.items():
        tab.on(event, listener)

    def start(model, certificate=None, width=1280, scores=None, scheme="light"):
        file = tmp_path / f"report-{len(opened)}.html"
        file.write_text(html_report(model, certificate, scores=scores), encoding="utf-8")
        opened.append(file.as_uri())
        tab.set_viewport_size({"width": width, "height": 900})
        tab.emulate_media(media="screen", color_scheme=scheme)
        tab.goto(file.as_uri())
        return tab

    yield start
    tab.evaluate("localStorage.clear()")
    for event, listener in heard.items():
        tab.remove_listener(event, listener)
    assert mistakes == []
    assert set(requests) == set(opened)
