"""Files that are there in full or not at all."""

import os
import stat
import subprocess
import sys

import pytest

from privatree._support import atomic_files


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


def test_pieces_are_one_file_or_none(tmp_path):
    path = tmp_path / "table.csv"
    with atomic_files.replace_file_in_pieces(path, private=True) as file:
        file.write(b"a\n")
        assert not path.exists()
        file.write(b"b\n")
    assert path.read_bytes() == b"a\nb\n"

    def write_and_fail():
        with atomic_files.replace_file_in_pieces(path) as file:
            file.write(b"c\n")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_and_fail()
    assert path.read_bytes() == b"a\nb\n"
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


def test_modes(tmp_path):
    """A new file is as others are, or its owner's alone; one that is replaced stays as it was."""
    before = os.umask(0o022)
    try:
        for name, private, mode in (("public", False, 0o644), ("private", True, 0o600)):
            path = tmp_path / name
            atomic_files.replace_file(path, "new", private=private)
            assert stat.S_IMODE(path.stat().st_mode) == mode
            for kept in (0o640, 0o600, 0o664):
                path.chmod(kept)
                atomic_files.replace_file(path, "newer", private=private)
                assert stat.S_IMODE(path.stat().st_mode) == kept
    finally:
        os.umask(before)


@pytest.mark.parametrize("name", ["/dev/stdout", "/proc/self/fd/1", "/dev/fd/1"])
def test_a_stream_is_written_on(tmp_path, name):
    """Also where it is a file, which others write to before and after."""
    with (tmp_path / "all").open("w") as file:
        program = f"from {atomic_files.__name__} import replace_file; replace_file({name!r}, 'b')"
        for command in (["printf", "a"], [sys.executable, "-c", program], ["printf", "c"]):
            subprocess.run(command, stdout=file, check=True)
    assert (tmp_path / "all").read_text() == "abc"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux has it")
def test_a_device_that_is_full_is_named():
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        atomic_files.replace_file("/dev/full", "new")
