"""Files that are there in full or not at all."""

import os

import pytest

from privatree import atomic_files


def test_text_and_bytes(tmp_path):
    path = tmp_path / "a.txt"
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


def test_a_link_goes_on_leading_to_the_file(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    atomic_files.replace_file(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "new"


def test_what_is_no_file_is_written_to_and_stays(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    atomic_files.replace_file(pipe, "new")
    assert os.read(reader, 10) == b"new"
    os.close(reader)
    assert pipe.is_fifo()


def test_an_error_names_the_file(tmp_path):
    path = tmp_path / "nowhere" / "a.txt"
    with pytest.raises(FileNotFoundError) as failed:
        atomic_files.replace_file(path, "new")
    assert failed.value.filename == str(path)
