"""Files that are there in full or not at all."""

import pytest

from privatree.experiments import atomic_files


def test_text_and_bytes(tmp_path):
    path = tmp_path / "new" / "folder" / "a.txt"
    assert atomic_files.replace_file(path, "±\n") == path
    assert path.read_bytes() == b"\xc2\xb1\n"
    atomic_files.replace_file(path, b"\x00\r\n")
    assert path.read_bytes() == b"\x00\r\n"
    assert list(path.parent.iterdir()) == [path]


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "table.md"
    atomic_files.replace_file(path, "old")

    def fail(*paths):
        raise OSError("disk full")

    monkeypatch.setattr(atomic_files.os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        atomic_files.replace_file(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
