"""A model, and all that is said while it is made, tell nothing of the records but what is paid for.

The records carry canaries: amounts, categories, labels and row names that occur nowhere else, and
counts that no other number equals. Whatever is released is searched for all of them. Mutants at the
end show that the search finds what it should.
"""

from __future__ import annotations

import contextlib
import copy
import json
import logging
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import clone, is_regressor

import privatree
from privatree import (
    Categorical,
    Numeric,
    PaperPrivaTreeClassifier,
    PrivaBoostClassifier,
    PrivaBoostRegressor,
    PrivaTreeClassifier,
    PrivaTreeRegressor,
    Schema,
    export_text,
)
from privatree import baselines as published
from privatree.cli._app import main
from privatree.privacy import BudgetStore

VALUE, RECORDS = "a value of a record", "number of records"
CUT = Schema(
    {
        "amount": Numeric(0, 100_000, cuts=[10_000, 20_000, 40_000, 60_000]),
        "level": Numeric(0, 50, integer=True, cuts=[10, 20]),
        "kind": Categorical(["red", "green", "blue"]),
    },
    ["no", "yes"],
)
FOUND_BY_DESIGN = {
    "replace": {RECORDS},
    "paper": {RECORDS},
    "paper, exact quantiles": {RECORDS, VALUE},
    "bdpt": {VALUE},
}
"""What the statement says that a model reveals."""
FEW = 1e-4
"""A share of epsilon at which noisy counts of leaves are seldom equal to the exact ones."""
LEARNERS: dict[str, Any] = {
    "default": PrivaTreeClassifier(0.05),
    "labels only": PrivaTreeClassifier(2.0, probability_share=0),
    "not simplified": PrivaTreeClassifier(2.0, probability_share=FEW, simplify=False),
    "robust": PrivaTreeClassifier(2.0, schedule="robust", robust_levels=2),
    "probabilities": PrivaTreeClassifier(2.0, probability_share=FEW),
    "robust probabilities": PrivaTreeClassifier(2.0, schedule="robust", probability_share=FEW),
    "replace": PrivaTreeClassifier(2.0, neighbours="replace", probability_share=FEW),
    "declared size": PrivaTreeClassifier(2.0, dataset_size=40_000, probability_share=FEW),
    "any depth": PrivaTreeClassifier(2.0, max_depth=None, lookahead=1, probability_share=0),
    "ensemble": PrivaBoostClassifier(2.0, rounds=5),
    "pure ensemble": PrivaBoostClassifier(2.0, delta=0, class_weight="balanced"),
    "tree of numbers": PrivaTreeRegressor(2.0),
    "medians": PrivaTreeRegressor(2.0, leaf_values="median", zoom=True, simplify=False),
    "robust tree of numbers": PrivaTreeRegressor(2.0, schedule="robust", robust_levels=2),
    "ensemble of numbers": PrivaBoostRegressor(2.0, rounds=5),
    "pure ensemble of numbers": PrivaBoostRegressor(2.0, delta=0, interval=(0, 500_000)),
    "paper": PaperPrivaTreeClassifier(2.0),
    "paper, exact quantiles": PaperPrivaTreeClassifier(2.0, quantiles="exact"),
    "bdpt": published.BDPTClassifier(2.0, max_depth=2),
    "bdpt, declared cuts": published.BDPTClassifier(2.0, schema=CUT),
    "dpgdf": published.DPGDFClassifier(2.0),
    "random-tree": published.RandomTreeClassifier(2.0),
    "diffp-c45": published.PublishedClassifier(published.DiffPC45(), 0.5, max_depth=2),
    "diffgen": published.PublishedClassifier(published.DiffGen(), 0.5, max_depth=2),
    "train-single-tree": published.PublishedClassifier(published.TrainSingleTree(), 0.5),
}


def learner(name: str, records: Any, seed: int | None = 0) -> Any:
    estimator = clone(LEARNERS[name]).set_params(random_state=seed)
    return (
        estimator if estimator.schema is not None else estimator.set_params(schema=records.schema)
    )


@pytest.fixture
def records(request: pytest.FixtureRequest, name: str) -> Any:
    """Records for the learner of this name: with classes, or with numbers as targets."""
    of_numbers = is_regressor(LEARNERS[name])
    return request.getfixturevalue("records_with_costs" if of_numbers else "private_records")


def test_every_estimator_is_searched() -> None:
    public = {*privatree.__all__, *published.__all__}
    learners = {name for name in public if name.endswith(("Classifier", "Regressor"))}
    assert {type(estimator).__name__ for estimator in LEARNERS.values()} == learners
    # The other classifier is not private, keeps models of its records and says so.
    assert "not differentially private" in privatree.robustness.DPAClassifier.__doc__


# --- what there is to search --------------------------------------------------------------------


@dataclass
class Said:
    """All that was logged, warned and printed."""

    logs: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    printed: str = ""

    @property
    def text(self) -> str:
        return "\n".join([*self.logs, *self.warnings, self.printed])


class _Collector(logging.Handler):
    def __init__(self, logs: list[str]) -> None:
        super().__init__(logging.DEBUG)
        self._logs = logs

    def emit(self, record: logging.LogRecord) -> None:
        self._logs.append(f"{record.getMessage()} {record.args!r} {record.exc_text}")


@contextlib.contextmanager
def heard(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Said]:
    """Listen to every logger, to all warnings and to both streams."""
    said = Said()
    capfd.readouterr()
    root = logging.getLogger()
    for logger in [root, *map(logging.getLogger, root.manager.loggerDict)]:
        monkeypatch.setattr(logger, "level", logging.DEBUG)
        monkeypatch.setattr(logger, "propagate", True)
        monkeypatch.setattr(logger, "disabled", False)
    collector = _Collector(said.logs)
    root.addHandler(collector)
    root.manager._clear_cache()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield said
    finally:
        root.removeHandler(collector)
        monkeypatch.undo()
        root.manager._clear_cache()
        said.warnings.extend(f"{warning.message} {warning.source!r}" for warning in caught)
        said.printed = "\n".join(capfd.readouterr())


def readable(model: Any) -> str:
    """Every text that a trained estimator or one of its parts makes of itself."""
    texts = [export_text(model), str(model.get_params())]
    released = getattr(model, "tree_", None) or model.ensemble_
    parts = (model, released, model.privacy_, model.schema_, model.model_)
    for part in parts:
        texts += [repr(part), str(part), format(part), f"{dir(part)}"]
        for way in ("_repr_html_", "_repr_mimebundle_"):
            if hasattr(part, way):
                texts.append(str(getattr(part, way)()))
    return "\n".join(texts)


def found_in(model: Any, secret: Any, folder: Path) -> dict[str, set[str]]:
    """Where which canaries are in a trained estimator and in what it writes."""
    model.save(folder / "model.json")
    joblib.dump(model, folder / "model.joblib")
    loaded = privatree.load(folder / "model.json")
    found = {
        "attributes": secret.in_object(model) | secret.in_object(copy.deepcopy(model)),
        "pickle": secret.in_pickle(model) | secret.in_bytes(b"".join(_files(folder))),
        "saved": secret.in_text((folder / "model.json").read_text()) | secret.in_object(loaded),
        "written": secret.in_text(json.dumps(loaded.to_dict())),
        "readable": secret.in_text(readable(model)),
    }
    if hasattr(model, "terms"):
        terms = model.terms()
        found["terms"] = secret.in_object(terms) | secret.in_pickle(terms)
    return {where: what for where, what in found.items() if what}


def groups(model: Any, frame: Any) -> Any:
    """The leaf of each record; records of an ensemble are alike if their scores are."""
    if hasattr(getattr(model, "model_", model), "apply"):
        return getattr(model, "model_", model).apply(frame)
    score = model.predict if is_regressor(model) else model.decision_function
    return np.unique(score(frame), return_inverse=True)[1]


def _files(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()]


# --- models -------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNERS)
def test_nothing_of_the_records_is_in_a_model_or_said_meanwhile(
    records: Any,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    model = learner(name, records)
    assert not records.secret.in_object(model), "public from the beginning"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(records.frame, records.labels)  # whatever is compiled is so before we listen
        model.predict(records.frame)
    with heard(capfd, monkeypatch) as said:
        model.fit(records.frame, records.labels)
        leaves = groups(model, records.frame)
        model.predict(records.frame)
        if not is_regressor(model):
            model.predict_proba(records.frame)
        model.score(records.frame[records.known], records.labels[records.known])
        model.save(tmp_path / "model.json")
    secret = records.with_leaves(leaves).without(*FOUND_BY_DESIGN.get(name, ()))
    assert found_in(model, secret, tmp_path) == {}
    assert secret.in_text(said.text) == set()
    assert said.printed.strip() == ""
    assert said.logs == []


def test_what_a_model_reveals_by_design_is_in_its_statement(private_records: Any) -> None:
    words = {
        "replace": "the number of records: it is the same in both tables",
        "paper": "the number of records: it sets the leaf budget",
        "paper, exact quantiles": "exact quantiles: bin edges, hence thresholds, are values of",
        "bdpt": "numeric values of records",
    }
    assert words.keys() == FOUND_BY_DESIGN.keys()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, sentence in words.items():
            model = learner(name, private_records)
            model.fit(private_records.frame[:500], private_records.labels[:500])
            assert sentence in " ".join(str(model.privacy_).split())


def test_what_is_revealed_by_design_is_found(private_records: Any, tmp_path: Path) -> None:
    """So the search would find it where it is not meant to be."""
    model = learner("bdpt", private_records)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(private_records.frame, private_records.labels)
    found = found_in(model, private_records.secret, tmp_path)
    assert {VALUE} <= found["attributes"] & found["pickle"] & found["saved"] & found["written"]


def test_no_estimator_can_be_told_to_talk() -> None:
    for estimator in LEARNERS.values():
        assert not {"verbose", "debug", "log", "callback"} & set(estimator.get_params())


@pytest.mark.parametrize(
    "name",
    [
        *("default", "ensemble", "tree of numbers", "ensemble of numbers"),
        *("paper", "bdpt", "random-tree"),
    ],
)
def test_a_model_keeps_what_is_released_and_nothing_else(records: Any, name: str) -> None:
    model = learner(name, records)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(records.frame, records.labels)
    assert set(vars(model)) - set(model.get_params()) - {"classes_"} == {
        "feature_names_in_", "model_", "n_features_in_", "privacy_", "schema_", "scores_",
        "ensemble_" if "ensemble" in name else "tree_",
    }  # fmt: skip
    assert hasattr(model, "classes_") is not is_regressor(model)


def test_terms_are_a_function_of_the_ensemble(private_records: Any) -> None:
    """One record less, and the same ensemble by the same seed: terms cannot tell them apart."""
    records = private_records
    models = [
        learner("ensemble", records).fit(records.frame[:n], records.labels[:n])
        for n in (len(records.frame), len(records.frame) - 1)
    ]
    assert models[0].ensemble_ == models[1].ensemble_
    one, other = (model.terms() for model in models)
    assert one.intercept.tolist() == other.intercept.tolist()
    assert models[0].feature_importances_.tolist() == models[1].feature_importances_.tolist()
    for term, again in zip(one, other, strict=True):
        assert term.names == again.names
        assert term.values.tolist() == again.values.tolist()
        assert term.band.tolist() == again.band.tolist()
        assert [axis.measure.tolist() for axis in term.axes] == [
            axis.measure.tolist() for axis in again.axes
        ]


# --- the command line ---------------------------------------------------------------------------


@pytest.fixture
def folder(
    private_records: Any, records_with_costs: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A working directory with the records in files, among them rows that are cut off."""
    monkeypatch.chdir(tmp_path)
    frame = private_records.frame.assign(
        outcome=private_records.labels, cost=records_with_costs.labels
    )
    frame.to_csv("data.csv", index_label="name")
    with open("data.csv", "a") as file:
        file.write("index-canary-short,48637.09375\n" + "index-canary-long,1,2,red,no,9,9\n")
    frame.to_parquet("data.parquet")
    private_records.schema.to_toml("schema.toml")
    records_with_costs.schema.to_toml("costs.toml")
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["privatree", *arguments])
    with pytest.raises(SystemExit) as stopped:
        main()
    return int(stopped.value.code or 0)


OF_CLASSES = f"--target outcome --schema schema.toml --probability-share {FEW}"
OF_NUMBERS = "--target cost --schema costs.toml"
HELD_OUT = f"{OF_CLASSES} --holdout 30%"


@pytest.mark.slow
@pytest.mark.parametrize("data", ["data.csv", "data.parquet", "data.parquet --engine stream"])
@pytest.mark.parametrize("options", [OF_CLASSES, OF_NUMBERS, HELD_OUT])
def test_nothing_of_the_records_is_printed_or_saved(
    private_records: Any,
    records_with_costs: Any,
    folder: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    data: str,
    options: str,
) -> None:
    records = records_with_costs if options == OF_NUMBERS else private_records
    call = ["fit", *data.split(), *options.split(), "--epsilon", "2"]
    assert run(monkeypatch, *call, "--seed", "0", "-o", "model.json") == 0
    monkeypatch.chdir(folder)
    with heard(capfd, monkeypatch) as said, pytest.MonkeyPatch.context() as patch:
        assert run(patch, *call, "--seed", "0", "-o", "model.json") == 0
        assert run(patch, "show", "model.json") == 0
        assert run(patch, "predict", "model.json", "data.parquet", "-o", "out.csv") == 0
    model = privatree.load(folder / "model.json")
    secret = records.with_leaves(model.apply(records.frame))
    assert "Privacy statement" in said.printed
    assert secret.in_text(said.text) == set()
    assert secret.in_bytes((folder / "model.json").read_bytes()) == set()


def test_a_budget_file_tells_nothing_of_the_records(private_records: Any, tmp_path: Path) -> None:
    store = BudgetStore.create(tmp_path / "budget.db", dataset="test", epsilon=7)
    model = learner("probabilities", private_records).set_params(budget=store)
    model.fit(private_records.frame, private_records.labels)
    secret = private_records.with_leaves(model.apply(private_records.frame))
    # The digests are of what the file says anyway, and have digits of their own.
    written = re.sub(rb"[0-9a-f]{64}", b"", b"".join(_files(tmp_path)))
    assert secret.in_bytes(written) == set()
    (charge,) = store.charges
    assert secret.in_text(f"{store!r} {charge.purpose} {charge.note} {charge.epsilon}") == set()
    assert secret.in_object(model) == set()


@pytest.mark.slow
def test_a_certificate_tells_counts_but_no_record(
    private_records: Any, folder: Path, capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """It is computed without privacy and says so; but no value of a record is in it."""
    call = ["certify", "data.parquet", "--target", "outcome", "--schema", "schema.toml"]
    wishes = ["--epsilon", "0.1", "--refits", "5", "--seed", "0", "--jobs", "1"]
    capfd.readouterr()
    assert run(monkeypatch, *call, *wishes, "-o", "certificate.json") == 0
    printed = "".join(capfd.readouterr())
    assert "without privacy" in printed
    allowed = [what for what in private_records.secret.numbers.values() if what != VALUE]
    secret = private_records.secret.without(*allowed)
    assert secret.in_text(printed + (folder / "certificate.json").read_text()) == set()


# --- mutants ------------------------------------------------------------------------------------


class KeepsCount(PrivaTreeClassifier):
    def fit(self, X: Any, y: Any) -> Any:
        self.n_samples_ = len(X)
        return super().fit(X, y)


class KeepsRecords(PrivaTreeClassifier):
    def fit(self, X: Any, y: Any) -> Any:
        self.X_ = X[:3]
        return super().fit(X, y)


class KeepsView(PrivaTreeClassifier):
    """One threshold that is a view of all amounts."""

    def fit(self, X: Any, y: Any) -> Any:
        super().fit(X, y)
        self.lowest_ = np.zeros(len(X) + 1)
        self.lowest_[1:] = X["amount"]
        self.lowest_ = self.lowest_[:1]
        return self


class KeepsClosure(PrivaTreeClassifier):
    def fit(self, X: Any, y: Any) -> Any:
        super().fit(X, y)
        counts = y.value_counts().to_dict()
        self.share = lambda label: counts[label] / 2
        return self


class ShowsCounts(PrivaTreeClassifier):
    def fit(self, X: Any, y: Any) -> Any:
        self._text = f"{type(self).__name__}({y.value_counts().to_dict()})"
        return super().fit(X, y)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return self._text

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_text"}


class NotesCount(PrivaTreeClassifier):
    def fit(self, X: Any, y: Any) -> Any:
        super().fit(X, y)
        privacy = replace(self.privacy_, notes=(f"Trained on {len(X):,} records.",))
        return self._release_model(replace(self.model_, privacy_=privacy))


class KeepsLeafShares(PrivaTreeClassifier):
    def fit(self, X: Any, y: Any) -> Any:
        super().fit(X, y)
        leaves, known = self.apply(X), y.isin(self.schema.classes)
        label, probability = self.tree_.label.copy(), self.tree_.probability.copy()
        for leaf in np.unique(leaves):
            of_leaf = y[(leaves == leaf) & known]
            probability[leaf] = [(of_leaf == name).mean() for name in self.schema.classes]
            label[leaf] = probability[leaf].argmax()
        tree = replace(self.tree_, label=label, probability=probability)
        return self._release_model(replace(self.model_, tree_=tree))


class KeepsLeafMeans(PrivaTreeRegressor):
    def fit(self, X: Any, y: Any) -> Any:
        super().fit(X, y)
        value = self.tree_.value.copy()
        leaves = self.apply(X)
        for leaf in np.unique(leaves):
            value[leaf] = y[leaves == leaf].mean()
        return self._release_model(replace(self.model_, tree_=replace(self.tree_, value=value)))


class NotesMissing(PrivaBoostRegressor):
    def fit(self, X: Any, y: Any) -> Any:
        super().fit(X, y)
        privacy = replace(self.privacy_, notes=(f"{y.isna().sum():,} have no target.",))
        self._keep_model(replace(self.model_, privacy_=privacy))
        return self


MUTANTS: dict[type, tuple[str, str]] = {
    KeepsCount: ("pickle", RECORDS),
    KeepsRecords: ("attributes", "a frame"),
    KeepsView: ("attributes", VALUE),
    ShowsCounts: ("readable", "number of yes"),
    NotesCount: ("written", RECORDS),
    KeepsLeafShares: ("saved", "count or share of a leaf"),
}


MUTANTS_OF_NUMBERS: dict[type, tuple[str, str]] = {
    KeepsLeafMeans: ("saved", "count or mean of a leaf"),
    NotesMissing: ("written", "without"),
}


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS)
def test_an_estimator_that_leaks_is_caught(
    private_records: Any, tmp_path: Path, mutant: type
) -> None:
    model = mutant(2.0, schema=private_records.schema, probability_share=0.3, random_state=0)
    check_that_it_is_caught(model, private_records, tmp_path, *MUTANTS[mutant])


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS_OF_NUMBERS)
def test_a_regressor_that_leaks_is_caught(
    records_with_costs: Any, tmp_path: Path, mutant: type
) -> None:
    model = mutant(2.0, schema=records_with_costs.schema, random_state=0)
    check_that_it_is_caught(model, records_with_costs, tmp_path, *MUTANTS_OF_NUMBERS[mutant])


def check_that_it_is_caught(model: Any, records: Any, folder: Path, where: str, what: str) -> None:
    model.fit(records.frame, records.labels)
    found = found_in(model, records.with_leaves(groups(model, records.frame)), folder)
    assert what in found[where]


def test_a_closure_that_leaks_is_caught(private_records: Any) -> None:
    model = KeepsClosure(2.0, schema=private_records.schema, random_state=0)
    model.fit(private_records.frame, private_records.labels)
    assert "number of yes" in private_records.secret.in_object(model)


TALKS: dict[str, Callable[[Any], Any]] = {
    "logs": lambda X: logging.getLogger("privatree.mutant").debug("%d rows", len(X)),
    "warnings": lambda X: warnings.warn(f"a far value: {X['amount'].max()}", stacklevel=2),
    "printed": lambda X: print(X["kind"].value_counts().to_string()),
    "stderr": lambda X: print(X.index[0], file=sys.stderr),
}


@pytest.mark.parametrize("way", TALKS)
def test_an_estimator_that_talks_is_caught(
    private_records: Any,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    way: str,
) -> None:
    with heard(capfd, monkeypatch) as said:
        TALKS[way](private_records.frame)
    assert private_records.secret.in_text(said.text)
