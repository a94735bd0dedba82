"""What is not here is left out by name; results of other data or versions are never mixed in."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from privatree.baselines import methods
from privatree.baselines.methods import Method, _registry
from privatree.baselines.methods._method import PRIVATE, encode_method_numbers
from privatree.errors import DatasetMissingError, ParameterError
from privatree.reproduction import datasets
from privatree.reproduction.datasets._dataset import Records
from privatree.reproduction.running import NothingToRunError, Request
from privatree.reproduction.running import _provenance as provenance
from privatree.reproduction.running import _study as study
from privatree.reproduction.running._journal import Journal
from privatree.reproduction.running._study import Study
from privatree.reproduction.running._task import Score
from privatree.reproduction.running._tasks import CrossValidated


@pytest.fixture
def stored(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Where datasets come from: a mapping to change; what is not in it is missing."""
    small = datasets.load("vote")
    found: dict[str, Any] = dict.fromkeys(("vote", "adult", "pol"), small)

    def load(name: str, data_dir: Path | None = None) -> Records:
        if name not in found:
            raise DatasetMissingError(f"{name}: not in {data_dir}.")
        return found[name]

    monkeypatch.setattr(datasets, "load", load)
    return found


@pytest.fixture
def begin(output: Path, listener: Any) -> Callable[..., Study]:
    return lambda **settings: Study(Request(output, **settings), listener)


# --- what is here -------------------------------------------------------------------------------


def test_missing_datasets_are_named_and_the_rest_goes_on(
    stored: dict[str, Any], begin: Callable[..., Study], listener: Any
) -> None:
    del stored["adult"]
    asked = begin(datasets=("pol", "adult", "nursery", "vote"), data_dir=Path("folder"))
    assert [dataset.name for dataset in asked.find_datasets(["mushroom"])] == ["pol", "vote"]
    reasons = {name: f"{name}: not in folder." for name in ("adult", "nursery")}
    assert asked.missing == reasons
    assert listener.lines == [
        *(f"Left out: {reason}" for reason in reasons.values()),
        "Not in folder, so taken from elsewhere: pol (bundled), vote (bundled).",
    ]


def test_it_is_said_which_data_are_not_those_of_the_folder(
    stored: dict[str, Any], begin: Callable[..., Study], listener: Any
) -> None:
    begin().find_datasets(["vote", "pol"])
    assert listener.lines == []  # no folder was named
    stored["vote"] = stored["vote"]._replace(origin="data folder")
    begin(data_dir=Path("folder")).find_datasets(["vote"])
    assert listener.lines == []
    stored["adult"] = stored["adult"]._replace(origin="OpenML")
    begin(data_dir=Path("folder")).find_datasets(["vote", "pol", "adult"])
    assert listener.lines == [
        "Not in folder, so taken from elsewhere: pol (bundled), adult (OpenML)."
    ]


def test_the_target_s_own_datasets_and_methods_unless_asked(
    stored: dict[str, Any], begin: Callable[..., Study]
) -> None:
    own, asked = begin(), begin(datasets=("adult",), methods=("privatree", "bdpt"))
    assert [dataset.name for dataset in own.find_datasets(["vote", "pol"])] == ["vote", "pol"]
    assert [dataset.name for dataset in asked.find_datasets(["vote", "pol"])] == ["adult"]
    mixed_up = begin(datasets=("vote", "pol", "adult")).find_datasets([])
    assert [dataset.name for dataset in mixed_up] == ["pol", "adult", "vote"]
    assert [method.id for method in own.find_methods(["dpgdf"])] == ["dpgdf"]
    assert [method.id for method in asked.find_methods(["dpgdf"])] == ["privatree", "bdpt"]
    assert own.missing == {}


def test_as_published_a_target_keeps_to_the_paper_s_datasets(
    stored: dict[str, Any], begin: Callable[..., Study]
) -> None:
    asked = begin(datasets=("vote", "adult"), as_published=True)
    assert [dataset.name for dataset in asked.find_datasets(["pol", "adult", "vote"])] == [
        "adult",
        "vote",
    ]
    assert asked.find_datasets(["pol"]) == []
    assert [d.name for d in begin(as_published=True).find_datasets(["pol"])] == ["pol"]


def test_unknown_names_end_the_run(
    stored: dict[str, Any], begin: Callable[..., Study], output: Path
) -> None:
    with pytest.raises(ParameterError, match="Did you mean 'adult"):
        begin(datasets=("vote", "adlut")).find_datasets([])
    with pytest.raises(ParameterError, match="Did you mean 'privatree"):
        begin(methods=("bdpt", "privatre")).find_methods([])
    assert not output.exists()


def left_out(what: str) -> str:
    return (
        f"Left out: {what}. They come with the extra 'bench', best in an environment of its own, "
        "because it brings an older scikit-learn: in a clone of the project, make reproduce sets "
        "one up in .venv-bench and runs there."
    )


def test_methods_without_their_libraries_are_named_in_a_line_and_the_rest_goes_on(
    monkeypatch: pytest.MonkeyPatch, begin: Callable[..., Study], listener: Any
) -> None:
    known = methods.get("bdpt")
    for name, library in (("absent", "no_such_library"), ("gone", "nor_this")):
        method = Method(name, name, known.group, known.classifier, requires=library)
        monkeypatch.setitem(_registry._METHODS, name, method)
    found = begin(methods=("bdpt", "absent", "privatree", "gone")).find_methods([])
    assert [method.id for method in found] == ["bdpt", "privatree"]
    assert listener.lines == [left_out("absent needs no_such_library; gone needs nor_this")]


@pytest.mark.parametrize(("library", "default"), [("numpy", ["real"]), ("no_such", ["stand-in"])])
def test_a_stand_in_is_used_where_the_method_itself_is_missing(
    monkeypatch: pytest.MonkeyPatch,
    begin: Callable[..., Study],
    listener: Any,
    library: str,
    default: list[str],
) -> None:
    train = methods.get("bdpt").classifier
    real = Method("real", "real", PRIVATE, train, requires=library)
    stand_in = Method("stand-in", "stand-in", PRIVATE, train, stands_in_for="real")
    for method in (real, stand_in):
        monkeypatch.setitem(_registry._METHODS, method.id, method)
    assert [method.id for method in begin().find_methods(["real", "stand-in"])] == default
    assert [method.id for method in begin(methods=("stand-in",)).find_methods([])] == ["stand-in"]
    assert listener.lines == ([] if library == "numpy" else [left_out("real needs no_such")])


def test_a_dataset_is_described_as_it_was_found(begin: Callable[..., Study]) -> None:
    (found,) = begin().find_datasets(["adult"])
    frame, labels, schema, fingerprint, origin = datasets.load("adult")
    assert (found.schema, found.fingerprint, found.origin) == (schema, fingerprint, origin)
    assert (found.n_records, found.n_features) == frame.shape
    assert found.n_categorical == len(frame.select_dtypes("category").columns) == 8
    counts = [labels.tolist().count(label) for label in schema.classes]
    assert found.majority_share == pytest.approx(max(counts) / sum(counts))


# --- one folder, one version, the same data -----------------------------------------------------


@pytest.fixture
def not_run(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Nothing is run; what would have been, is here."""
    asked: list[Any] = []
    monkeypatch.setattr(study, "run_tasks", lambda tasks, *_, **__: asked.extend(tasks))
    return asked


def test_other_data_are_refused_before_anything_is_run(
    stored: dict[str, Any],
    begin: Callable[..., Study],
    fake_tasks: ModuleType,
    not_run: list[Any],
    output: Path,
) -> None:
    provenance.record_provenance(output, {"vote": stored["vote"].fingerprint, "pol": "another"}, [])
    before = (output / "run.json").read_bytes()
    both = begin()
    both.find_datasets(["vote", "pol"])
    with pytest.raises(ParameterError, match=r"other data for pol\. Choose another output"):
        both.run("name", [fake_tasks.Fake(0)])
    assert not_run == []
    assert [path.name for path in output.iterdir()] == ["run.json"]
    assert (output / "run.json").read_bytes() == before
    others = begin()
    others.find_datasets(["vote", "adult"])
    others.run("name", [fake_tasks.Fake(0)])
    assert not_run == [fake_tasks.Fake(0)]


def test_a_changed_method_is_refused_before_anything_is_run(
    begin: Callable[..., Study],
    fake_tasks: ModuleType,
    not_run: list[Any],
    output: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def run_with(*names: str) -> None:
        asked = begin(methods=names)
        asked.find_methods([])
        asked.run("name", [fake_tasks.Fake(len(names))])

    run_with("bdpt")
    run_with("bdpt", "dpgdf")  # an additional one is no change
    assert len(not_run) == 2
    changed = replace(methods.get("dpgdf"), encode=encode_method_numbers)
    monkeypatch.setitem(_registry._METHODS, "dpgdf", changed)
    with pytest.raises(
        ParameterError, match=r"other versions of the methods dpgdf\. Choose another"
    ):
        run_with("bdpt", "dpgdf", "privatree")
    assert len(not_run) == 2
    run_with("bdpt", "privatree", "decision-tree")
    assert len(not_run) == 3


def test_what_is_run_is_noted_down(
    stored: dict[str, Any],
    begin: Callable[..., Study],
    fake_tasks: ModuleType,
    not_run: list[Any],
    output: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    absent = replace(methods.get("bdpt"), id="absent", requires="no_such_library")
    monkeypatch.setitem(_registry._METHODS, "absent", absent)
    asked = begin()
    asked.find_datasets(["vote", "pol"])
    asked.find_methods(["dpgdf", "absent", "privatree"])
    assert not output.exists()
    asked.run("name", [fake_tasks.Fake(0)])
    written = json.loads((output / "run.json").read_text())
    assert written["datasets"] == {name: stored[name].fingerprint for name in ("vote", "pol")}
    assert set(written["methods"]) == {"dpgdf", "privatree"}


# --- running ------------------------------------------------------------------------------------


def test_nothing_to_run_is_said_and_nothing_is_written(
    stored: dict[str, Any], begin: Callable[..., Study], output: Path
) -> None:
    asked = begin()
    asked.find_datasets(["vote"])
    asked.find_methods(["bdpt"])
    with pytest.raises(NothingToRunError, match="accuracy: nothing to run"):
        asked.run("accuracy", [])
    assert not output.exists()


def test_it_is_said_how_much_there_is_to_do(
    begin: Callable[..., Study], listener: Any, monkeypatch: pytest.MonkeyPatch, output: Path
) -> None:
    monkeypatch.setattr(study, "run_tasks", lambda *_, **__: None)
    tasks = [CrossValidated("vote", "decision-tree", None, 4, repeat, 0) for repeat in range(1200)]
    journal = Journal(output / "name" / "cells.csv", CrossValidated.fields)
    for task in tasks[:2]:
        journal.record_score(task, Score(0.5, 1.0))
    journal.record_failure(tasks[2], "timeout")
    begin().run("name", tasks)
    begin(retry=True).run("name", tasks)
    assert listener.lines == [
        "name: 1,200 fits, of which 3 are done.",
        "name: 1,200 fits, of which 2 are done.",
    ]


@pytest.mark.parametrize(("of_target", "expected"), [(None, 3), (1, 1)])
def test_the_runner_is_told_what_was_asked(
    fake_tasks: ModuleType,
    begin: Callable[..., Study],
    monkeypatch: pytest.MonkeyPatch,
    of_target: int | None,
    expected: int,
) -> None:
    told: dict[str, Any] = {}
    monkeypatch.setattr(study, "run_tasks", lambda *_, **settings: told.update(settings))
    begin(jobs=3, time_limit=7.0).run("name", [fake_tasks.Fake(0)], jobs=of_target)
    assert told == {"jobs": expected, "time_limit": 7.0}


def test_the_results_have_the_columns_that_the_tasks_measure(
    begin: Callable[..., Study], monkeypatch: pytest.MonkeyPatch, output: Path
) -> None:
    monkeypatch.setattr(study, "run_tasks", lambda *_, **__: None)
    task: Any = SimpleNamespace(
        fields=("number",), measures=("asr",), added_measures=(), key=("0",)
    )
    begin().run("name", [task])
    written = (output / "name" / "cells.csv").read_text()
    assert written == "number,accuracy,asr,fit_seconds,note\n"


@pytest.mark.parametrize("retry", [False, True])
def test_what_failed_is_run_again_only_if_asked(
    begin: Callable[..., Study],
    output: Path,
    listener: Any,
    retry: bool,
    run_here: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(study, "run_tasks", run_here)
    scored, failed, not_asked = (
        CrossValidated("vote", "decision-tree", None, 4, 0, fold) for fold in range(3)
    )
    journal = Journal(output / "name" / "cells.csv", CrossValidated.fields)
    journal.record_score(scored, Score(0.125, 1.0))
    journal.record_failure(failed, "timeout")
    journal.record_failure(not_asked, "timeout")
    found = begin(retry=retry, jobs=1).run("name", [scored, failed])
    assert found["fold"].tolist() == [0, 1]
    assert found["accuracy"].tolist()[0] == 0.125
    assert found["note"].tolist() == ["", "" if retry else "timeout"]
    to_do = scored.weight if retry else 0.0
    assert listener.advanced == pytest.approx(to_do)
    assert listener.total - listener.before == pytest.approx(to_do)
    rows = journal.path.read_text().splitlines()
    again = f"{failed.run().accuracy:.6f}," if retry else ",,timeout"
    assert rows[2].startswith(f"vote,decision-tree,,4,0,1,{again}")
    assert rows[3] == "vote,decision-tree,,4,0,2,,,timeout,,"
