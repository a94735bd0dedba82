"""A folder keeps to one version and the same data, and to one run at a time."""

import json
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import privatree
from privatree.baselines import methods
from privatree.baselines.methods._method import (
    PRIVATE,
    Method,
    encode_method_frame,
    encode_method_numbers,
)
from privatree.errors import ParameterError
from privatree.reproduction.running import _provenance as provenance
from privatree.reproduction.running import lock_output_folder
from privatree.reproduction.running._provenance import record_provenance

PACKAGE = Path(privatree.__file__).parent


def note(output: Path) -> Any:
    return json.loads((output / "run.json").read_text())


def method(name: str, encode: Callable[..., Any] = encode_method_frame) -> Method:
    return Method(name, name, PRIVATE, methods.get("bdpt").classifier, encode=encode)


# --- what is noted down ---------------------------------------------------------------------------


def test_the_note_says_what_was_used(output: Path) -> None:
    bdpt, dpgdf = (methods.get(name) for name in ("bdpt", "dpgdf"))
    record_provenance(output / "deep", {"vote": "a"}, [bdpt])
    record_provenance(output / "deep", {"pol": "b"}, [dpgdf])
    written = note(output / "deep")
    assert set(written) == {"datasets", "methods", "versions", "machine"}
    assert written["datasets"] == {"vote": "a", "pol": "b"}
    assert set(written["methods"]) == {"bdpt", "dpgdf"}
    assert len({*written["methods"].values(), written["versions"]["code"]}) == 3
    for library in ("privatree", "numpy", "pandas", "scikit-learn"):
        assert written["versions"][library] == version(library)
    assert written["versions"]["python"].startswith("3.")
    assert written["machine"]["processors"] >= 1
    before = (output / "deep" / "run.json").read_bytes()
    record_provenance(output / "deep", {"vote": "a"}, [dpgdf, bdpt])
    assert (output / "deep" / "run.json").read_bytes() == before


def test_other_data_are_refused_by_name(output: Path) -> None:
    record_provenance(output, {"vote": "a", "pol": "b", "adult": "c"}, [])
    before = (output / "run.json").read_bytes()
    with pytest.raises(ParameterError, match=r"other data for pol, adult\. Choose another output"):
        record_provenance(output, {"vote": "a", "pol": "x", "adult": "y", "nursery": "z"}, [])
    assert (output / "run.json").read_bytes() == before
    record_provenance(output, {"vote": "a", "nursery": "z"}, [])
    assert note(output)["datasets"] == {"vote": "a", "pol": "b", "adult": "c", "nursery": "z"}


def test_a_changed_method_is_refused_by_name(output: Path) -> None:
    first, second = method("first"), method("second")
    record_provenance(output, {"vote": "a"}, [first, second])
    before = (output / "run.json").read_bytes()
    words = r"other versions of the methods second\. Choose another output"
    with pytest.raises(ParameterError, match=words):
        record_provenance(
            output, {"vote": "a", "pol": "b"}, [first, method("second", encode_method_numbers)]
        )
    assert (output / "run.json").read_bytes() == before
    record_provenance(output, {"vote": "a"}, [first])  # without it, the folder can still be used
    record_provenance(output, {"vote": "a"}, [second])


def test_another_method_is_welcome(output: Path) -> None:
    record_provenance(output, {"vote": "a"}, [method("before")])
    before = note(output)
    record_provenance(
        output, {"vote": "a"}, [method("before"), method("after", encode_method_numbers)]
    )
    after = note(output)
    assert set(after["methods"]) == {"before", "after"}
    assert after["methods"]["before"] == before["methods"]["before"]
    assert after | {"methods": before["methods"]} == before


@pytest.mark.parametrize("what", ["privatree", "scikit-learn", "code", "python"])
def test_other_versions_are_refused_by_name(
    output: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    record_provenance(output, {"vote": "a"}, [])
    before = (output / "run.json").read_bytes()
    now = provenance._provenance_versions() | {what: "99"}
    monkeypatch.setattr(provenance, "_provenance_versions", lambda: now)
    with pytest.raises(ParameterError, match=rf"other versions of {what}\. Choose another output"):
        record_provenance(output, {"vote": "a"}, [])
    assert (output / "run.json").read_bytes() == before


def test_a_library_may_come_later(output: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record_provenance(output, {"vote": "a"}, [])
    now = provenance._provenance_versions() | {"another-library": "1"}
    monkeypatch.setattr(provenance, "_provenance_versions", lambda: now)
    record_provenance(output, {"vote": "a"}, [])
    assert note(output)["versions"]["another-library"] == "1"
    monkeypatch.undo()
    record_provenance(output, {"vote": "a"}, [])  # nor does it harm that one is not here
    assert note(output)["versions"]["another-library"] == "1"


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'{"datasets": []}', b"\xff\xfe"])
def test_what_is_no_note_is_left_alone(output: Path, content: bytes) -> None:
    output.mkdir()
    (output / "run.json").write_bytes(content)
    with pytest.raises(
        ParameterError,
        match=r"run\.json: must be a file that privatree reproduce wrote\. Choose another",
    ):
        record_provenance(output, {"vote": "a"}, [])
    assert (output / "run.json").read_bytes() == content


# --- the mark of the code -------------------------------------------------------------------------

DECIDING = (
    *(
        "errors.py",
        "learners/tree/_grow.py",
        "baselines/greedy/_bdpt.py",
        "baselines/paper/_tree.py",
    ),
    *("privacy/mechanisms/_laplace.py", "datasets/_bundled.py", "reproduction/datasets/_load.py"),
    *("reproduction/loading/_cleaning.py", "reproduction/running/_tasks.py"),
    *("robustness/attacks/_attacks.py", "robustness/dpa/_voter.py", "tables/_editing.py"),
)
AROUND = (
    *("cli/commands/_fit.py", "audit/exact/_universe.py", "export/_text.py", "report/_html.py"),
    *("reproduction/targets/_accuracy.py", "reproduction/rendering/_score_tables.py"),
    *("baselines/methods/_registry.py", "robustness/certificates/_certify.py", "note.txt"),
)


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of a file of each kind, which is taken for this one."""
    package = tmp_path / "package"
    for name in (*DECIDING, *AROUND):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text("1")
    monkeypatch.setattr(
        provenance, "__file__", str(package / "reproduction" / "running" / "_provenance.py")
    )
    return package


@pytest.mark.parametrize("name", DECIDING)
def test_the_mark_of_the_code_follows_what_decides(copy: Path, name: str) -> None:
    before = provenance._provenance_code_hash()
    (copy / name).write_text("2")
    assert provenance._provenance_code_hash() != before
    (copy / name).write_text("1")
    assert provenance._provenance_code_hash() == before


@pytest.mark.parametrize("name", ["added.py", "baselines/added.py", "new/added.py"])
def test_the_mark_of_the_code_follows_new_files(copy: Path, name: str) -> None:
    before = provenance._provenance_code_hash()
    (copy / name).parent.mkdir(exist_ok=True)
    (copy / name).write_text("")
    assert provenance._provenance_code_hash() != before


@pytest.mark.parametrize("name", AROUND)
def test_the_mark_of_the_code_leaves_out_what_only_shows(copy: Path, name: str) -> None:
    before = provenance._provenance_code_hash()
    (copy / name).write_text("2")
    assert provenance._provenance_code_hash() == before


def test_all_code_that_a_fit_uses_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever of the package is there after fits has a mark: its own as a method, or the code's.

    But for what lists the methods, and what says what a method is: a mark of each has it.
    """
    code = (
        "import sys\n"
        "from privatree.baselines import methods\n"
        "from privatree.reproduction.running._budget_share import BudgetShare\n"
        "from privatree.reproduction.running._certified_split import CertifiedSplit\n"
        "from privatree.reproduction.running._tasks import CrossValidated, RandomSplit\n"
        "for method in map(methods.get, methods.names()):\n"
        "    if method.missing is None:\n"
        "        CrossValidated('vote', method.id, 1.0, 2, 0, 0).run()\n"
        "RandomSplit('breast-w', 'privatree', 1.0, 2, 0).run()\n"
        "BudgetShare('vote', 1.0, 2, 5, 10, 5, 0).run()\n"
        "CertifiedSplit('vote', 'dpa', None, 2, 0).run()\n"
        "used = [m for name, m in sys.modules.items() if name.startswith('privatree')]\n"
        "print(*[m.__file__ for m in used], sep='\\n')"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    used = set(map(Path, ran.stdout.splitlines()))
    monkeypatch.setattr(provenance, "_run_hash", list)
    marked = {part.partition(b"\0")[2] for part in provenance._provenance_code_hash()}
    assert {p.relative_to(PACKAGE).as_posix() for p in used if p.read_bytes() not in marked} == {
        "baselines/methods/__init__.py",
        "baselines/methods/_method.py",
        "baselines/methods/_registry.py",
        "baselines/methods/_survey.py",
    }
    used_and_marked = {p for p in used if p.read_bytes() in marked}
    assert {"baselines/paper/_tree.py", "learners/tree/_grow.py", "baselines/greedy/_bdpt.py"} <= {
        path.relative_to(PACKAGE).as_posix() for path in used_and_marked
    }


# --- one run at a time ----------------------------------------------------------------------------


def test_one_run_at_a_time(output: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from privatree.reproduction.running import lock_output_folder\n"
        "with lock_output_folder(Path(sys.argv[1])): pass"
    )
    command = [sys.executable, "-c", code, str(output)]
    with lock_output_folder(output):
        assert output.is_dir()
        refused = subprocess.run(command, capture_output=True, text=True)
    assert refused.returncode == 1
    assert "another run uses this folder" in refused.stderr
    with lock_output_folder(output):  # it ended with the run
        pass
    assert subprocess.run(command).returncode == 0
