"""A folder keeps to one version and the same data, and to one run at a time."""

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from privatree.errors import ParameterError
from privatree.experiments import provenance
from privatree.experiments.provenance import alone, note_down, refuse_others


def note(output: Path) -> Any:
    return json.loads((output / "run.json").read_text())


def test_the_note_says_what_was_used(output: Path) -> None:
    note_down(output / "deep", {"vote": "a"})
    note_down(output / "deep", {"pol": "b"})
    written = note(output / "deep")
    assert written["datasets"] == {"vote": "a", "pol": "b"}
    for library in ("privatree", "numpy", "pandas", "scikit-learn"):
        assert written["versions"][library] == version(library)
    assert written["versions"]["python"].startswith("3.")
    assert written["machine"]["processors"] >= 1
    before = (output / "deep" / "run.json").read_bytes()
    note_down(output / "deep", {"vote": "a"})
    assert (output / "deep" / "run.json").read_bytes() == before


def test_an_unused_folder_takes_everything(output: Path) -> None:
    refuse_others(output, {"vote": "a"})
    assert not output.exists()


def test_other_data_are_refused_by_name(output: Path) -> None:
    note_down(output, {"vote": "a", "pol": "b", "adult": "c"})
    before = (output / "run.json").read_bytes()
    with pytest.raises(ParameterError, match=r"other data for pol, adult\. Name another output"):
        refuse_others(output, {"vote": "a", "pol": "x", "adult": "y", "nursery": "z"})
    assert (output / "run.json").read_bytes() == before
    refuse_others(output, {"vote": "a", "nursery": "z"})


@pytest.mark.parametrize("what", ["privatree", "scikit-learn", "code", "python"])
def test_other_versions_are_refused_by_name(
    output: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    note_down(output, {"vote": "a"})
    now = provenance._versions() | {what: "99"}
    monkeypatch.setattr(provenance, "_versions", lambda: now)
    with pytest.raises(ParameterError, match=rf"other versions of {what}\. Name another output"):
        refuse_others(output, {"vote": "a"})


def test_a_library_may_come_later(output: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note_down(output, {"vote": "a"})
    now = provenance._versions() | {"another-library": "1"}
    monkeypatch.setattr(provenance, "_versions", lambda: now)
    refuse_others(output, {"vote": "a"})
    note_down(output, {})
    assert note(output)["versions"]["another-library"] == "1"
    monkeypatch.undo()
    refuse_others(output, {"vote": "a"})  # nor does it harm that one is not here


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'{"datasets": []}', b"\xff\xfe"])
def test_what_is_no_note_is_left_alone(output: Path, content: bytes) -> None:
    output.mkdir()
    (output / "run.json").write_bytes(content)
    for use in (refuse_others, note_down):
        with pytest.raises(ParameterError, match="is not a note of a run"):
            use(output, {"vote": "a"})
    assert (output / "run.json").read_bytes() == content


def test_the_mark_of_the_code_follows_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "package"
    (package / "inner").mkdir(parents=True)
    monkeypatch.setattr(provenance, "__file__", str(package / "inner" / "provenance.py"))
    marks = []
    for name, content in (("a.py", "1"), ("a.py", "2"), ("inner/b.py", ""), ("note.txt", "3")):
        (package / name).write_text(content)
        marks.append(provenance._code_mark())
    assert len(set(marks)) == 3
    assert marks[2] == marks[3]  # what is no code does not count


def test_one_run_at_a_time(output: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom privatree.experiments.provenance import alone\n"
        "with alone(Path(sys.argv[1])): pass"
    )
    command = [sys.executable, "-c", code, str(output)]
    with alone(output):
        assert output.is_dir()
        refused = subprocess.run(command, capture_output=True, text=True)
    assert refused.returncode == 1
    assert "another run uses this folder" in refused.stderr
    with alone(output):  # it ended with the run
        pass
    assert subprocess.run(command).returncode == 0
