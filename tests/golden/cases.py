"""What must stay as it is while the code moves: each case is a file name and what is in it."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable
from importlib import import_module
from inspect import Parameter, isclass, isfunction, signature
from typing import Any

import typer.main

import privatree
from privatree import (
    PaperPrivaTreeClassifier,
    PrivaBoostClassifier,
    PrivaBoostRegressor,
    PrivaTreeClassifier,
    PrivaTreeRegressor,
    Schema,
    Target,
    audit,
    datasets,
    robustness,
)
from privatree.baselines import BDPTClassifier, DPGDFClassifier, RandomTreeClassifier
from privatree.evaluation import private_scores

LEARNERS: dict[str, Callable[..., Any]] = {
    "default": lambda **kw: PrivaTreeClassifier(1.0, **kw),
    "deep": lambda **kw: PrivaTreeClassifier(8.0, max_depth=6, probability_share=0.1, **kw),
    "chosen-depth": lambda **kw: PrivaTreeClassifier(0.5, max_depth=None, **kw),
    "robust": lambda **kw: PrivaTreeClassifier(0.1, schedule="robust", **kw),
    "replaced": lambda **kw: PrivaTreeClassifier(
        2.0, neighbours="replace", dataset_size=400, lookahead=1, n_bins=16, **kw
    ),
    "privaboost": lambda **kw: PrivaBoostClassifier(2.0, **kw),
    "privaboost-pure": lambda **kw: PrivaBoostClassifier(4.0, delta=0, max_depth=3, **kw),
    "paper": lambda **kw: PaperPrivaTreeClassifier(1.0, **kw),
    "paper-star": lambda **kw: PaperPrivaTreeClassifier(1.0, quantiles="exact", **kw),
    "bdpt": lambda **kw: BDPTClassifier(1.0, **kw),
    "dpgdf": lambda **kw: DPGDFClassifier(1.0, **kw),
    "random-tree": lambda **kw: RandomTreeClassifier(1.0, **kw),
}
REGRESSORS: dict[str, Callable[..., Any]] = {
    "regressor": lambda **kw: PrivaTreeRegressor(2.0, **kw),
    "privaboost-regressor": lambda **kw: PrivaBoostRegressor(2.0, **kw),
    "privaboost-regressor-pure": lambda **kw: PrivaBoostRegressor(4.0, delta=0, **kw),
}
DATASETS = ("breast-w", "vote", "adult")
PACKAGES = (
    "audit",
    "baselines",
    "datasets",
    "evaluation",
    "export",
    "privacy",
    "report",
    "robustness",
    "sources",
)


def records(name: str) -> tuple[Any, Any, Any]:
    """The first rows of a bundled dataset, and its schema."""
    frame, labels, schema = datasets.load(name)
    return frame[:1500], labels[:1500], schema


def trained(learner: str, dataset: str) -> Any:
    """A learner, trained with a seed on a bundled dataset."""
    frame, labels, schema = records(dataset)
    return trained_on(learner, schema, frame, labels)


def trained_on(learner: str, schema: Any, *data: Any) -> Any:
    """A learner, trained with a seed; warnings about what the paper claims are expected."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LEARNERS[learner](schema=schema, random_state=7).fit(*data)


def model(learner: str, dataset: str) -> Any:
    """The file of a model; its schema is that of the dataset, and in one of them is enough."""
    written = trained(learner, dataset).model_.to_dict()
    return written if learner == "default" else written | {"schema": "as in the default model"}


def model_of_hours(learner: str) -> Any:
    """The file of a model that predicts the weekly hours of the people of Adult."""
    frame, _, schema = records("adult")
    hours = frame.pop("hours-per-week")
    features = {name: schema.features[name] for name in frame}
    schema = Schema(features, target=Target(0, 100, integer=True))
    found = REGRESSORS[learner](schema=schema, random_state=7).fit(frame, hours)
    return found.model_.to_dict()


def model_with_scores(learner: str) -> Any:
    """The file of a model that was scored with a held-out part."""
    frame, labels, schema = records("vote")
    found = LEARNERS[learner](schema=schema, random_state=7).fit(
        frame, labels, holdout=0.3, score_epsilon=0.5
    )
    return found.model_.to_dict() | {"schema": "as in the default model"}


def statement(learner: str) -> str:
    """What is guaranteed, as a person reads it."""
    return str(trained(learner, "vote").privacy_)


def accuracy_certificate() -> Any:
    """The file of a certificate."""
    return robustness.accuracy_certificate(*_certified(), _tested()[1], **_FEW).to_dict()


def attack_success_certificate() -> Any:
    """The file of a certificate of how often a trigger works."""
    attack = robustness.BackdoorAttack({"crime": "y"}, target="democrat")
    return robustness.attack_success_certificate(
        *_certified(), _tested()[1], attack, **_FEW
    ).to_dict()


def prediction_certificates() -> Any:
    """The file of certificates of single predictions."""
    found = robustness.prediction_certificates(*_certified(), refits=100)
    return found.to_dict()


def audit_report() -> Any:
    """What a small audit finds."""
    learner, pairs = PrivaTreeClassifier(1.0, random_state=0), audit.known_pairs()
    return audit.audit(learner, [pairs["purity"], pairs["new-category"]], runs=40).to_dict()


def scores() -> Any:
    """Private scores of a tree, and of one that predicts a number."""
    frame, labels, schema = records("breast-w")
    learner = PrivaTreeClassifier(1.0, max_depth=2, schema=schema, random_state=0)
    fitted = learner.fit(frame[::2], labels[::2])
    found = private_scores(fitted, frame[1::2], labels[1::2], epsilon=1.0, random_state=0)
    return {"scores": found.to_dict(), "text": str(found).splitlines()}


def help_texts() -> Any:
    """Every command: its text, its parameters, their defaults and texts.

    Not as it is printed, which another release of typer does otherwise.
    """
    from privatree.cli._app import app

    return _command(typer.main.get_command(app))


def public_names() -> Any:
    """What each public package offers, and how each is called."""
    return {"privatree": _offered(privatree)} | {
        name: _offered(import_module(f"privatree.{name}")) for name in PACKAGES
    }


_FEW = {"poisoned": [1, 5, "1%"], "refits": 100}


def _tested() -> tuple[Any, Any]:
    frame, labels, _ = records("vote")
    return frame[160:], labels[160:]


def _certified() -> tuple[Any, Any, Any, Any]:
    frame, labels, schema = records("vote")
    learner = PrivaTreeClassifier(0.1, schema=schema, schedule="robust", random_state=0)
    return learner, frame[:160], labels[:160], _tested()[0]


def _command(command: Any) -> Any:
    told = {"help": command.help, "epilog": command.epilog}
    if hasattr(command, "commands"):
        return told | {"commands": {n: _command(c) for n, c in sorted(command.commands.items())}}
    return told | {"parameters": [_parameter(one) for one in command.params]}


def _parameter(parameter: Any) -> Any:
    return {
        "names": [*parameter.opts, *parameter.secondary_opts],
        "required": parameter.required,
        "default": repr(parameter.default),
        "help": getattr(parameter, "help", None),
    }


def _offered(package: Any) -> dict[str, Any]:
    return {name: _called(getattr(package, name)) for name in sorted(package.__all__)}


def _called(thing: Any) -> Any:
    if isclass(thing):
        methods = [name for name in dir(thing) if not name.startswith("_")]
        return {"parameters": _parameters(thing), "attributes": methods}
    return {"parameters": _parameters(thing)} if isfunction(thing) else type(thing).__name__


def _parameters(thing: Any) -> list[str] | None:
    try:
        found = signature(thing).parameters.values()
    except (TypeError, ValueError):
        return None
    return [_written(one) for one in found]


def _written(parameter: Parameter) -> str:
    bare = re.sub(" at 0x[0-9a-f]+", "", str(parameter.replace(annotation=Parameter.empty)))
    return f"{parameter.kind.name.lower()}: {bare}"


CASES: dict[str, Callable[[], Any]] = {
    **{
        f"model-{learner}-{dataset}.json": lambda learner=learner, dataset=dataset: model(
            learner, dataset
        )
        for learner in LEARNERS
        for dataset in DATASETS
    },
    **{
        f"model-{learner}-hours.json": lambda learner=learner: model_of_hours(learner)
        for learner in REGRESSORS
    },
    **{
        f"statement-{learner}.txt": lambda learner=learner: statement(learner)
        for learner in LEARNERS
    },
    **{
        f"model-{learner}-held-out-vote.json": lambda learner=learner: model_with_scores(learner)
        for learner in ("default", "privaboost", "replaced")
    },
    "accuracy-certificate.json": accuracy_certificate,
    "attack-success-certificate.json": attack_success_certificate,
    "prediction-certificates.json": prediction_certificates,
    "audit-report.json": audit_report,
    "private-scores.json": scores,
    "help.json": help_texts,
    "public-names.json": public_names,
}


def text(name: str) -> str:
    """What belongs into a file."""
    content = CASES[name]()
    if isinstance(content, str):
        return content + "\n"
    return json.dumps(content, indent=1, sort_keys=True, default=str) + "\n"
